import { expect, test } from "vitest";
import { expectSame } from "./harness.ts";

// Places in shared memory that follow from a thread's number, not in a straight line. The interpreter is the reference.

const words = 320;
const before = `.shared .align 16 .b8 s[${4 * words}];`;

/** Each thread fills its words, and after a barrier `body` may read any. %r9 is where they begin. */
const kernel = (body: string): string => `mov.u32 %r9, s; mov.u32 %r10, %tid.x;
  FILL: mad.lo.u32 %r11, %r10, 4, %r9; mad.lo.u32 %r12, %r10, 2654435761, 12345; st.shared.u32 [%r11], %r12;
  mov.u32 %r13, %ntid.x; add.u32 %r10, %r10, %r13; setp.lt.u32 %p9, %r10, ${words}; @%p9 bra FILL;
  bar.sync 0; mov.u32 %r8, %tid.x; mov.u32 %r7, 0;
  ${body}
  st.global.b32 [%out], %r7; ret;`;

const same = (body: string): void => {
  for (const x of [64, 20]) {
    const block = [x, 1, 1] as const;
    const { reports } = expectSame({ name: "", before, body: kernel(body), block, words: 1 });
    expect(reports).toEqual([]);
  }
};

test.each([
  ["padded rows", "shr.u32 %r1, %r8, 3; add.u32 %r2, %r1, %r8;"],
  ["every second word of padded rows", "shl.b32 %r1, %r8, 1; shr.u32 %r2, %r1, 4; add.u32 %r2, %r1, %r2;"],
  ["the other of a pair", "xor.b32 %r2, %r8, 1;"],
  ["backwards in fours", "xor.b32 %r2, %r8, 3;"],
  ["one word for four", "shr.u32 %r2, %r8, 2;"],
  ["one word for two", "shr.u32 %r2, %r8, 1;"],
  ["columns of a square", "and.b32 %r1, %r8, 7; shl.b32 %r1, %r1, 3; shr.u32 %r2, %r8, 3; add.u32 %r2, %r1, %r2;"],
  ["remainders, which differ from chunk to chunk", "rem.u32 %r2, %r8, 5;"],
  [
    "halves of words, of which the sum wraps around",
    ".reg .b16 %h; add.u32 %r1, %r8, 65530; cvt.u16.u32 %h, %r1; cvt.u32.u16 %r1, %h; min.u32 %r2, %r1, 40;",
  ],
  ["squares", "and.b32 %r1, %r8, 15; mul.lo.u32 %r2, %r1, %r1;"],
])("loads and stores of %s", (_, place) => {
  same(`${place} mad.lo.u32 %r3, %r2, 4, %r9; ld.shared.u32 %r7, [%r3];`);
  same(`${place} mad.lo.u32 %r3, %r2, 4, %r9; ld.shared.s16 %r7, [%r3+2];`);
  same(`${place} setp.lt.u32 %p1, %r8, 37; mad.lo.u32 %r3, %r2, 4, %r9; @%p1 ld.shared.u32 %r7, [%r3];`);
  // Where two threads store to a word, the same is stored.
  same(`${place} mad.lo.u32 %r3, %r2, 4, %r9; add.u32 %r4, %r2, 1; bar.sync 0; st.shared.u32 [%r3], %r4; bar.sync 0;
    mad.lo.u32 %r5, %r8, 4, %r9; ld.shared.u32 %r7, [%r5];`);
  same(`${place} setp.gt.u32 %p1, %r8, 9; mad.lo.u32 %r3, %r2, 4, %r9; bar.sync 0;
    @%p1 st.shared.u32 [%r3], %r2; bar.sync 0; mad.lo.u32 %r5, %r8, 4, %r9; ld.shared.u32 %r7, [%r5];`);
});

test("a pattern of which some threads are beyond the end", () => {
  const place = "shr.u32 %r1, %r8, 1; mad.lo.u32 %r2, %r1, 7, %r8; mad.lo.u32 %r3, %r2, 4, %r9;";
  const all = { name: "", before, body: kernel(`${place} ld.shared.u32 %r7, [%r3+64];`), words: 1 };
  const { reports } = expectSame({ ...all, block: [128, 1, 1] });
  expect(reports).toMatchObject([{ code: "shared-out-of-bounds" }]);
  // Those do not come here.
  const some = `setp.gt.u32 %p1, %r8, 60; @%p1 bra END; ${place} ld.shared.u32 %r7, [%r3+64]; END:`;
  expect(expectSame({ ...all, body: kernel(some), block: [128, 1, 1] }).reports).toEqual([]);
});

test("a pattern that is not aligned", () => {
  const place = "shr.u32 %r1, %r8, 1; add.u32 %r2, %r1, %r8; mad.lo.u32 %r3, %r2, 2, %r9;";
  const body = kernel(`${place} ld.shared.u32 %r7, [%r3];`);
  const { reports } = expectSame({ name: "", before, body, block: [64, 1, 1], words: 1 });
  expect(reports).toMatchObject([{ code: "misaligned-access" }]);
});

// Chunks are whole rows, so that lanes lie to each other in the same way in all of them.
test.each([
  ["the left neighbour", "sub.s32 %r1, %r8, 1; max.s32 %r2, %r1, 0;"],
  ["the right neighbour", "add.s32 %r1, %r8, 1; min.s32 %r2, %r1, 15;"],
  ["the neighbour around the edge", "add.u32 %r1, %r8, 15; and.b32 %r2, %r1, 15;"],
  ["backwards", "sub.u32 %r2, 15, %r8;"],
  ["every third", "mul.lo.u32 %r2, %r8, 3;"],
])("some lanes of rows: %s", (_, place) => {
  const row = `mov.u32 %r6, %tid.y; mad.lo.u32 %r5, %r6, 192, %r9; ${place} mad.lo.u32 %r3, %r2, 4, %r5;`;
  const own = "mad.lo.u32 %r4, %r8, 4, %r5; bar.sync 0;";
  const some = "setp.gt.u32 %p1, %r8, 2; setp.lt.u32 %p2, %r6, 3; and.pred %p1, %p1, %p2; not.pred %p2, %p1;";
  for (const access of [
    "ld.shared.u32 %r7, [%r3];",
    "ld.shared.v2.u32 {%r7, %r1}, [%r3];",
    "st.shared.u32 [%r3], %r6; bar.sync 0; ld.shared.u32 %r7, [%r4];",
    `@%p2 bra END; ld.shared.u32 %r7, [%r3]; add.u32 %r7, %r7, 5; END:`,
    `@%p2 bra END; st.shared.u32 [%r3], %r6; END: bar.sync 0; ld.shared.u32 %r7, [%r4];`,
    `@%p2 bra END; st.shared.u8 [%r3+1], %r6; END: bar.sync 0; ld.shared.u32 %r7, [%r4];`,
    `@%p2 bra END; atom.shared.add.u32 %r1, [%r3], 9; END: bar.sync 0; ld.shared.u32 %r7, [%r4];`,
  ]) {
    const pairs = access.includes("v2") ? "and.b32 %r3, %r3, -8;" : "";
    const body = kernel(`${row} ${own} ${some} ${pairs} ${access}`);
    expect(expectSame({ name: "", before, body, block: [16, 4, 1], words: 1 }).reports).toEqual([]);
  }
});

// Where few lanes of a chunk are active, code is for the first of them alone. Chunks are as far apart as ever.
test.each([36, 68])("code for the first lanes of chunks: %i threads", (count) => {
  const place = "shr.u32 %r6, %r5, 3; add.u32 %r6, %r5, %r6; mad.lo.u32 %r3, %r6, 4, %r9;";
  const some = `setp.ge.u32 %p1, %r8, ${count}; @%p1 bra END;`;
  for (const thread of ["sub.u32 %r5, 95, %r8;", "add.u32 %r5, %r8, 3;"]) {
    for (const access of ["st.shared.u32 [%r3], %r8; END:", "ld.shared.u32 %r7, [%r3]; END:"]) {
      const read = `bar.sync 0; mad.lo.u32 %r4, %r8, 4, %r9; ld.shared.u32 %r1, [%r4]; xor.b32 %r7, %r7, %r1;`;
      const body = kernel(`bar.sync 0; ${some} ${thread} ${place} ${access} ${read}`);
      expect(expectSame({ name: "", before, body, block: [96, 1, 1], words: 1 }).reports).toEqual([]);
    }
  }
});
