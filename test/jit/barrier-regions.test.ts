import { expect, test } from "vitest";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { expectSame } from "./harness.ts";

const blocks: readonly Dim3[] = [
  [256, 1, 1],
  [200, 1, 1],
  [32, 4, 2],
  [16, 16, 1],
  [8, 3, 1],
  // Blocks of one chunk.
  [32, 1, 1],
  [4, 4, 1],
];

/** Each step adds what the thread `half` further has, or (if not `far`) its own, where `index` is less than `half`. */
const steps = (index: string, halves: readonly number[], at: string, far: boolean): string =>
  halves
    .map(
      (half, i) => `setp.ge.u32 %p1, ${index}, ${half}; @%p1 bra $S${i};
        ld.shared.b32 %r2, [${at}]; ld.shared.b32 %r3, [${at}+${far ? 4 * half : 0}]; add.u32 %r2, %r2, %r3; st.shared.b32 [${at}], %r2;
        $S${i}: bar.sync 0;`,
    )
    .join("\n");

const before = ".shared .b32 part[1024];";
const store =
  "mov.u32 %r4, part; mad.lo.u32 %r4, %t, 4, %r4; mul.lo.u32 %r1, %t, 7; st.shared.b32 [%r4], %r1; bar.sync 0;";

const end = "ld.shared.b32 %r5, [%r4]; st.global.b32 [%out], %r5; ret;";

test.each(blocks)("a tree whose steps leave out whole chunks, in blocks of %j", (...block) => {
  for (const index of ["%t", "%tid.x", "%tid.y"]) {
    const get = index === "%t" ? "mov.u32 %r6, %t;" : `mov.u32 %r6, ${index};`;
    const body = `${store} ${get} ${steps("%r6", [128, 64, 20, 8, 1], "%r4", index === "%t")} ${end}`;
    expect(expectSame({ name: "", before, body, block, grid: [2, 1, 1], words: 1 }).reports).toEqual([]);
  }
});

test.each(blocks)("a tree in a loop, in blocks of %j", (...block) => {
  const body = `${store} mov.u32 %r6, 128;
    $LOOP: setp.ge.u32 %p1, %t, %r6; @%p1 bra $NEXT; mad.lo.u32 %r7, %r6, 4, %r4;
    ld.shared.b32 %r2, [%r4]; ld.shared.b32 %r3, [%r7]; add.u32 %r2, %r2, %r3; st.shared.b32 [%r4], %r2;
    $NEXT: bar.sync 0; shr.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra $LOOP; ${end}`;
  expect(expectSame({ name: "", before, body, block, grid: [2, 1, 1], words: 1 }).reports).toEqual([]);
});

test.each(blocks)(
  "a loop whose end stands before its beginning, with an exit between two barriers, in blocks of %j",
  (...block) => {
    // Threads that have nothing to do in a round branch to the loop's end, others fall into it; nvcc writes loops so.
    const body = `${store} mov.u32 %r6, 0; mov.u32 %r7, 128; mov.u32 %r9, 0; bra.uni $HEAD;
    $END: bar.sync 0; add.u32 %r6, %r6, 1; shr.u32 %r7, %r7, 1;
    $HEAD: setp.ge.u32 %p1, %t, %r7; @%p1 bra $SKIP; mad.lo.u32 %r8, %r7, 4, %r4;
    ld.shared.b32 %r2, [%r4]; ld.shared.b32 %r3, [%r8]; add.u32 %r9, %r2, %r3;
    $SKIP: bar.sync 0; setp.eq.u32 %p2, %r6, 5; @%p2 bra $DONE;
    setp.lt.u32 %p3, %t, 3; @%p3 bra $END; st.shared.b32 [%r4], %r9; bra.uni $END;
    $DONE: ${end}`;
    expect(expectSame({ name: "", before, body, block, grid: [2, 1, 1], words: 1 }).reports).toEqual([]);
  },
);

test("values that one phase leaves alone are there in a later one", () => {
  // %r10 is written in the first phase, by some also in the second, and read in the last.
  const body = `${store} mul.lo.u32 %r10, %t, 3; mov.u32 %r11, 5; bar.sync 0;
    setp.ge.u32 %p1, %t, 40; @%p1 bra $A; add.u32 %r10, %r10, 1000; $A: bar.sync 0;
    setp.ge.u32 %p1, %t, 8; @%p1 bra $B; add.u32 %r11, %r11, %r10; $B: bar.sync 0;
    add.u32 %r10, %r10, %r11; st.global.b32 [%out], %r10; ret;`;
  for (const block of blocks) expect(expectSame({ name: "", before, body, block, words: 1 }).reports).toEqual([]);
});

test.each(blocks)("rounds in which each thread reads its successor's word, in blocks of %j", (...block) => {
  // One of the two barriers is needless where threads are one row; a thread without a successor reads nothing.
  const body = `${store} mov.u32 %r6, 0; mov.u32 %r8, %n; sub.u32 %r8, %r8, 1;
    $LOOP: mov.u32 %r9, 3; setp.ge.u32 %p1, %t, %r8; @%p1 bra $SKIP;
    ld.shared.b32 %r2, [%r4+4]; ld.shared.b32 %r3, [%r4]; mad.lo.u32 %r9, %r2, 3, %r3;
    $SKIP: bar.sync 0; @%p1 bra $NEXT; st.shared.b32 [%r4], %r9;
    $NEXT: bar.sync 0; add.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 9; @%p2 bra $LOOP; ${end}`;
  expect(expectSame({ name: "", before, body, block, grid: [2, 1, 1], words: 1 }).reports).toEqual([]);
});

test.each(blocks)("a bound that each round lowers before it is compared, in blocks of %j", (...block) => {
  // Chunks beyond the bound are skipped: what they compute for the round is of no use to them, but the bound is lowered.
  const body = `${store} mov.u32 %r6, %n; mov.u32 %r10, 0;
    $LOOP: add.u32 %r6, %r6, -1; mov.u32 %r9, 3; sub.u32 %r7, %r6, 2; setp.ge.s32 %p1, %t, %r7; add.u32 %r7, %r7, 9;
    @%p1 bra $SKIP; ld.shared.b32 %r2, [%r4+4]; ld.shared.b32 %r3, [%r4]; mad.lo.u32 %r9, %r2, 3, %r3;
    $SKIP: bar.sync 0; @%p1 bra $NEXT; st.shared.b32 [%r4], %r9;
    $NEXT: bar.sync 0; add.u32 %r10, %r10, %r7; setp.gt.s32 %p2, %r6, 1; @%p2 bra $LOOP;
    ld.shared.b32 %r5, [%r4]; add.u32 %r5, %r5, %r10; st.global.b32 [%out], %r5; ret;`;
  expect(expectSame({ name: "", before, body, block, grid: [2, 1, 1], words: 1 }).reports).toEqual([]);
});

test("a fault before a needless barrier is that of the first thread that has one", () => {
  const body = `${store} setp.eq.u32 %p1, %t, 70; @%p1 add.u32 %r4, %r4, 1000000; ld.shared.b32 %r2, [%r4+4]; bar.sync 0;
    mov.u32 %r5, part; mad.lo.u32 %r5, %t, 4, %r5; st.shared.b32 [%r5], %r2; ret;`;
  const { reports } = expectSame({ name: "", before, body, block: [128, 1, 1], grid: [1, 1, 1], words: 1 });
  expect(reports).toHaveLength(1);
});
