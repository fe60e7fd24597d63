import { expect, test } from "vitest";
import type { Dim3 } from "../../src/machine/reports/report.ts";
import { expectSame } from "./harness.ts";

// In chunks of whole rows of a block, values that are even along each row are kept as a scalar for each. Blocks whose
// rows are such, too short, longer than a chunk's half, or which end within a chunk; of several layers. The interpreter
// is the reference; chunks have 4 to 32 lanes.

const blocks: readonly Dim3[] = [
  [16, 4, 1],
  [8, 8, 1],
  [16, 3, 1],
  [8, 5, 1],
  [24, 2, 1],
  [4, 8, 1],
  [8, 2, 4],
  [16, 2, 2],
];

const same = (body: string, words = 1, name = ""): void => {
  for (const block of blocks) {
    const { reports } = expectSame({ name, body, block, grid: [2, 2, 1], words });
    expect({ block, reports }).toEqual({ block, reports: [] });
  }
};

/** An exchange, so that chunks are whole warps; %r0 is what a thread has found. */
const end = `activemask.b32 %r38; shfl.sync.bfly.b32 %r39, %r0, 1, 31, %r38; mad.lo.u32 %r0, %r0, 5, %r39;
st.global.u32 [%out], %r0; ret;`;

const numbers = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.x;";

test.each([
  "add.s32 %r5, %r2, %r3;",
  "mad.lo.s32 %r5, %r2, %r4, %r1;",
  "mad.lo.s32 %r5, %r2, %n, %r1; sub.s32 %r5, %r3, %r5;",
  "mul.lo.s32 %r5, %r2, 2147483647; add.s32 %r5, %r5, %r1;",
  "shl.b32 %r5, %r2, 31; add.s32 %r5, %r5, %r1;",
  "shr.s32 %r5, %r2, 1; xor.b32 %r6, %r5, %r3; mad.lo.s32 %r5, %r6, 7, %r1;",
  // Some rows divide by 0.
  "div.s32 %r5, %r4, %r2; rem.u32 %r6, %r3, %r2; add.s32 %r5, %r5, %r6; add.s32 %r5, %r5, %r1;",
  "setp.lt.s32 %p1, %r2, 2; selp.b32 %r5, %r3, %r2, %p1; add.s32 %r5, %r5, %r1;",
  "min.s32 %r5, %r2, 2; max.u32 %r6, %r2, %r4; mad.lo.s32 %r5, %r5, %r6, %r1;",
  "mul.wide.s32 %d1, %r2, -3; cvt.u32.u64 %r5, %d1; shr.u64 %d1, %d1, 31; cvt.u32.u64 %r6, %d1; xor.b32 %r5, %r5, %r6;",
  "mad.lo.s32 %r6, %r2, %r4, %r1; mul.wide.s32 %d1, %r6, 12; add.s64 %d1, %d1, 77; cvt.u32.u64 %r5, %d1;",
  "mul.lo.s32 %r6, %r1, -5; sub.s32 %r5, %r6, %r2; not.b32 %r5, %r5;",
  "cvt.rn.f32.s32 %f1, %r2; mul.f32 %f1, %f1, 0f3fc00000; mov.b32 %r5, %f1;",
  "cvt.u16.u32 %h1, %r2; mul.lo.u16 %h1, %h1, 30000; cvt.u32.u16 %r5, %h1; add.u32 %r5, %r5, %r1;",
])("what follows from rows: %s", (body) => {
  same(`.reg .b16 %h<3>; ${numbers} ${body} mov.b32 %r0, %r5; ${end}`);
});

test("comparisons of rows decide guards, selections and branches", () => {
  same(`${numbers} mov.u32 %r0, 1;
setp.gt.u32 %p1, %r2, %r4; setp.eq.s32 %p2, %r1, 3; or.pred %p3, %p1, %p2; xor.pred %p4, %p1, %p2;
@%p1 add.u32 %r0, %r0, 5; @!%p3 mad.lo.u32 %r0, %r0, 3, %r2; @%p4 bra NEXT;
mad.lo.u32 %r0, %r0, 7, %r2; @%p1 bra NEXT; add.u32 %r0, %r0, %r1;
NEXT: mad.lo.s32 %r5, %r2, %r4, %r1; setp.le.s32 %p5, %r5, 6; @%p5 bra LAST; add.u32 %r0, %r0, %r5; LAST: ${end}`);
});

test("rows leave a loop at different times, and keep what they have then", () => {
  same(`${numbers} mov.u32 %r0, 0; and.b32 %r5, %r2, 3;
AGAIN: mad.lo.u32 %r0, %r0, 3, %r5; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 5; @%p1 bra AGAIN;
mad.lo.u32 %r0, %r0, 11, %r5; ${end}`);
});

test("a register has the number of its row, another one, or that of the block", () => {
  same(`${numbers} mov.u32 %r5, %r2; setp.gt.u32 %p1, %r1, 2; setp.eq.u32 %p2, %r3, 1;
@%p2 bra ONE; add.u32 %r5, %r2, 9; bra BOTH; ONE: mov.u32 %r5, %r4; BOTH: mov.u32 %r6, %r2; mov.u32 %r0, %r5;
@%p1 bra TWO; mul.lo.u32 %r6, %r2, 3; TWO: mad.lo.u32 %r0, %r0, 5, %r6; ${end}`);
});

test("numbers of rows are kept over barriers", () => {
  same(`${numbers} mad.lo.s32 %r5, %r2, %r4, %r1; mul.lo.s32 %r6, %r2, %r2; setp.lt.s32 %p1, %r6, 4; setp.ne.s32 %p2, %r1, 0;
st.global.u32 [%out], %r5; bar.sync 0; mov.u32 %r0, %r5; @%p1 add.u32 %r0, %r0, %r6; bar.sync 0;
@%p2 mad.lo.u32 %r0, %r0, 3, %r6; ${end}`);
});

/** The address of a word of `out`, whose number is in %r5. */
const word = "ld.param.u64 %d1, [out]; mul.wide.s32 %d2, %r5, 4; add.s64 %d3, %d1, %d2;";

test.each([
  // Rows one after the other; upside down; all the same one; each lane its own row's first word; backwards.
  "mov.u32 %r6, %ntid.x; mad.lo.s32 %r5, %r2, %r6, %r1;",
  "mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y; sub.s32 %r7, %r7, %r2; sub.s32 %r7, %r7, 1; mad.lo.s32 %r5, %r7, %r6, %r1;",
  "mul.lo.s32 %r5, %r2, 0; add.s32 %r5, %r5, %r1;",
  "mov.u32 %r6, %ntid.x; mul.lo.s32 %r5, %r2, %r6;",
  "mov.u32 %r6, %ntid.x; sub.s32 %r7, %r6, %r1; sub.s32 %r7, %r7, 1; mad.lo.s32 %r5, %r2, %r6, %r7;",
  "mad.lo.s32 %r5, %r2, %r4, %r1;",
])("loads at places in rows: %s", (place) => {
  const stored = "mov.u32 %r8, %t; mad.lo.u32 %r8, %r8, 7, 1; st.global.u32 [%out], %r8; bar.sync 0;";
  same(
    `${numbers} ${stored} ${place} ${word} ld.global.u32 %r0, [%d3];
setp.eq.s32 %p1, %r2, 1; setp.gt.s32 %p2, %r1, 2; @%p1 ld.global.u32 %r0, [%d3+4]; @%p2 ld.global.u32 %r9, [%d3];
bar.sync 0; xor.b32 %r0, %r0, %r9; ${end}`,
    3,
  );
});

test("stores to places in rows, of all lanes and of some", () => {
  same(`${numbers} mov.u32 %r6, %ntid.x; mad.lo.s32 %r5, %r2, %r6, %r1; ${word} mov.u32 %r0, %r5;
st.global.u32 [%d3], %r5; bar.sync 0; setp.gt.s32 %p1, %r2, 0; setp.ne.s32 %p2, %r1, 5;
@%p1 st.global.u32 [%d3], %r2; @%p2 red.global.add.u32 [%d3], 3; bar.sync 0; ld.global.u32 %r0, [%d3]; bar.sync 0;
activemask.b32 %r38; shfl.sync.bfly.b32 %r39, %r0, 1, 31, %r38; st.global.u32 [%d3], %r39; ret;`);
});

test.each([
  // Lanes that do not take part may be anywhere; indices of others wrap around.
  ["setp.lt.s32 %p1, %r2, 1;", "mad.lo.s32 %r5, %r2, 100000, %r1;"],
  ["setp.lt.s32 %p1, %r1, 2;", "mad.lo.s32 %r5, %r1, 100000000, 0; @%p1 mov.u32 %r5, %r1;"],
  ["setp.ge.s32 %p1, %r2, 0;", "mad.lo.s32 %r5, %r2, 100000, %r1;"],
  ["setp.ge.s32 %p1, %r2, 0;", "mad.lo.s32 %r5, %r2, 2147483647, %r1;"],
  ["setp.ge.s32 %p1, %r2, 0;", "sub.s32 %r5, %r2, 4; add.s32 %r5, %r5, %r1;"],
])("accesses outside are reported, if any: %s %s", (guard, place) => {
  for (const block of blocks) {
    expectSame({
      name: "",
      body: `${numbers} ${guard} ${place} ${word} @%p1 ld.global.u32 %r0, [%d3]; ${end}`,
      block,
      tellsWho: false,
    });
  }
});

test("an index that wraps around within a row is not the next word", () => {
  // 2^31 - 4 and on: the address of the first lanes is the buffer's, those after them are 2^34 bytes before it.
  const body = (guard: string): string => `${numbers} add.s32 %r5, %r1, 2147483644; ${guard}
ld.param.u64 %d1, [out]; sub.s64 %d1, %d1, 8589934576; mul.wide.s32 %d2, %r5, 4; add.s64 %d3, %d1, %d2;
@%p1 ld.global.u32 %r0, [%d3]; ${end}`;
  for (const block of blocks) {
    const guarded = expectSame({ name: "", body: body("setp.lt.s32 %p1, %r1, 4;"), block });
    expect(guarded.reports).toEqual([]);
    const all = expectSame({ name: "", body: body("setp.ge.s32 %p1, %r1, 0;"), block, tellsWho: false });
    expect(all.reports.length > 0).toBe(block[0] > 4);
  }
});

test("chunks that have nothing to do in a barrier region are told by the numbers of their own rows", () => {
  same(`${numbers} mov.u32 %r6, %ntid.x; mad.lo.u32 %r5, %r2, %r6, %r1; mov.u32 %r0, %r5; bar.sync 0;
setp.ge.u32 %p1, %r5, 16; @%p1 bra NEXT; mad.lo.u32 %r0, %r0, 3, 1; st.global.u32 [%out], %r0;
NEXT: bar.sync 0; setp.lt.u32 %p2, %r2, 2; @%p2 bra LAST; mad.lo.u32 %r0, %r0, 5, %r2; LAST: bar.sync 0; ${end}`);
});
