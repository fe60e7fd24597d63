import { expect, test } from "vitest";
import { expectSame, inWarps } from "./harness.ts";

// Values that follow from thread numbers which are the same in each chunk are constants in compiled code. The
// interpreter is the reference. Reading %ntid makes it code for blocks of one shape.

const blocks = [
  [4, 4, 1],
  [16, 4, 1],
  [2, 4, 4],
  [5, 3, 1],
] as const;

const picture = Array.from({ length: 256 }, (_, i) => (i * 2654435761) >>> 0);
const before = `.global .align 4 .b32 picture[256] = {${picture.join(", ")}};`;

const same = (body: string): void => {
  for (const block of blocks) {
    const text = `mov.u32 %r30, %tid.x; mov.u32 %r31, %tid.y; mov.u32 %r32, %ntid.x; ${body}`;
    expect(expectSame({ name: "", before, body: text, block, grid: [3, 1, 1], words: 1 }).reports).toEqual([]);
  }
};

test.each([
  ["signs", "and.b32 %r1, %r30, %r31; popc.b32 %r2, %r1; and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 1;"],
  ["rows", "setp.lt.u32 %p1, %r31, 2;"],
  ["all lanes", "setp.lt.u32 %p1, %r30, 64;"],
  ["no lane", "setp.gt.u32 %p1, %r30, 64;"],
  ["a part of a row and of a column", "setp.gt.s32 %p2, %r30, 0; setp.lt.s32 %p3, %r31, 3; and.pred %p1, %p2, %p3;"],
  ["all but some", "setp.eq.u32 %p2, %r30, 1; not.pred %p1, %p2;"],
])("a condition: %s", (_, condition) => {
  same(`${condition} mov.u32 %r7, %t; selp.b32 %r7, %t, 77, %p1; st.global.u32 [%out], %r7; ret;`);
  same(`${condition} mov.u32 %r7, %t; @%p1 add.u32 %r7, %t, 5; st.global.u32 [%out], %r7; ret;`);
  same(
    `${condition} mov.u32 %r7, %t; @%p1 bra NEXT; mad.lo.u32 %r7, %t, %r31, %r30; NEXT: st.global.u32 [%out], %r7; ret;`,
  );
  same(`${condition} @!%p1 st.global.u32 [%out], %t; ret;`);
});

test("blocks of one row that are treated as one long row", () => {
  const body = `mov.u32 %r30, %tid.x; mov.u32 %r32, %ntid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, %r32, %r30;
mul.wide.u32 %d1, %r2, 4; ld.param.u64 %d2, [out]; add.s64 %d3, %d2, %d1; mad.lo.u32 %r3, %r30, 5, %r2;
st.global.u32 [%d3], %r3; ret;`;
  for (const x of [4, 8, 16, 32]) {
    expect(expectSame({ name: "", body, block: [x, 1, 1], grid: [40, 1, 1], words: 1 }).reports).toEqual([]);
  }
});

test("what is computed in some lanes is 0 in the others", () => {
  same(`setp.gt.u32 %p1, %r30, 2; @%p1 bra NEXT; shl.b32 %r8, %r30, 3; xor.b32 %r9, %r8, %r31;
NEXT: add.u32 %r9, %r9, 1; st.global.u32 [%out], %r9; ret;`);
});

test("a register that two instructions write is not known", () => {
  same(`mov.u32 %r8, %r31; setp.gt.u32 %p1, %r30, 1; @%p1 bra NEXT; xor.b32 %r8, %r30, 5;
NEXT: st.global.u32 [%out], %r8; ret;`);
});

test("values in loops of as many rounds as each lane says", () => {
  same(`mov.u32 %r7, 0; mov.u32 %r6, 0; LOOP: xor.b32 %r8, %r30, %r31; add.u32 %r7, %r7, %r8; add.u32 %r6, %r6, 1;
setp.le.u32 %p1, %r6, %r8; @%p1 bra LOOP; st.global.u32 [%out], %r7; ret;`);
});

test.each([
  ["rows that follow each other", "mov.u32 %r1, %r32;"],
  [
    "rows that lie apart",
    "mul.lo.u32 %r1, %r32, 2; mov.u32 %r2, %nctaid.x; min.u32 %r2, %r2, 1; mul.lo.u32 %r1, %r1, %r2;",
  ],
  ["the last row first", "mov.u32 %r2, %ntid.y; sub.u32 %r2, %r2, 1; sub.u32 %r31, %r2, %r31; mov.u32 %r1, %r32;"],
  ["one row for all", "mov.u32 %r1, 0;"],
])("words of a picture: %s", (_, rows) => {
  const place = `mov.u64 %d1, picture; ${rows} mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r31, %r1, %r30;
mul.wide.s32 %d2, %r4, 4; add.s64 %d3, %d1, %d2;`;
  same(`${place} ld.global.u32 %r5, [%d3]; add.u32 %r5, %r5, %t; st.global.u32 [%out], %r5; ret;`);
  same(
    `${place} setp.gt.u32 %p1, %r30, 1; mov.u32 %r5, 9; @%p1 ld.global.u32 %r5, [%d3+4]; st.global.u32 [%out], %r5; ret;`,
  );
});

test("places that no analysis knows to be in the buffer are reported as the interpreter does", () => {
  const body = `ld.param.u64 %d1, [out]; mov.u32 %r30, %tid.x; mov.u32 %r31, %tid.y; mov.u32 %r32, %ntid.x;
mov.u32 %r1, %nctaid.x; mul.lo.u32 %r1, %r1, 4000; mad.lo.s32 %r4, %r31, %r1, %r30; mul.wide.s32 %d2, %r4, 4;
add.s64 %d3, %d1, %d2; ld.global.u32 %r5, [%d3]; st.global.u32 [%out], %r5; ret;`;
  const { reports } = expectSame({ name: "", body, block: [4, 4, 1], words: 1 });
  expect(reports).toMatchObject([{ code: "global-out-of-bounds" }]);
});

// Where chunks have other numbers of lanes than the mask keeps, and where blocks end within a warp.
test.each([3, 7, 15, 31])("numbers of lanes and a mask of %i", (mask) => {
  const body = `mov.u32 %r1, %laneid; and.b32 %r2, %r1, ${mask}; mul.lo.u32 %r3, %r2, 7; and.b32 %r3, %r3, 10;
setp.gt.u32 %p1, %r3, 2; mov.u32 %r4, 5; @%p1 add.u32 %r4, %r3, %t; st.global.u32 [%out], %r4; ret;`;
  for (const x of [4, 12, 20, 32, 40]) {
    for (const y of [1, 3]) {
      expect(expectSame({ name: "", body, block: [x, y, 1], grid: [5, 1, 1], words: 1 }).reports).toEqual([]);
    }
  }
});

test.each([
  ["the first of each row", "setp.ne.u32 %p1, %r30, 0;"],
  ["two of each row", "and.b32 %r3, %r30, 1; setp.eq.u32 %p1, %r3, 0;"],
  ["one of all", "or.b32 %r3, %r30, %r31; setp.ne.u32 %p1, %r3, 0;"],
])("after a sum over rows of 16, %s stores it", (_, others) => {
  const sum = [8, 4, 2, 1].map((d) => `shfl.sync.down.b32 %r5, %r4, ${d}, 4127, -1; add.u32 %r4, %r4, %r5;`).join(" ");
  const body = `mov.u32 %r30, %tid.x; mov.u32 %r31, %tid.y; mad.lo.u32 %r4, %t, 77, %r31; ${sum} ${others}
@%p1 bra END; st.global.u32 [%out], %r4; END: ret;`;
  for (const block of [
    [16, 16, 1],
    [16, 3, 1],
    [8, 4, 2],
  ] as const) {
    expect(expectSame({ name: "", body, block, grid: [3, 1, 1], words: 1 }, inWarps).reports).toEqual([]);
  }
});

test("some lanes of each row load and store records", () => {
  const place = "mul.wide.u32 %d2, %t, 4; mov.u64 %d1, picture; add.s64 %d3, %d1, %d2;";
  same(`${place} mov.u32 %r5, 1; setp.ne.u32 %p1, %r30, 1; @%p1 bra NEXT; ld.global.u32 %r5, [%d3+4];
ld.global.u8 %r6, [%d3+9]; add.u32 %r5, %r5, %r6; NEXT: st.global.u32 [%out], %r5; ret;`);
  same(`${place} and.b32 %r3, %t, 3; mov.u32 %r5, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra NEXT;
ld.global.v2.u32 {%r5, %r6}, [%d3]; xor.b32 %r5, %r5, %r6; NEXT: st.global.u32 [%out], %r5; ret;`);
});

// Chunks lie in rows of threads, or have those of several, or end before their last lane.
test.each([0, 3, 15, 31, 63])("the low bits of the number in a row, by a mask of %i", (mask) => {
  const lanes = `mov.u32 %r1, %tid.x; and.b32 %r2, %r1, ${mask};`;
  const body = `${lanes} mul.lo.u32 %r3, %r2, 7; setp.ne.u32 %p1, %r2, 0; mov.u32 %r4, 5; @%p1 bra NEXT;
add.u32 %r4, %r1, %t; NEXT: add.u32 %r4, %r4, %r3; st.global.u32 [%out], %r4; ret;`;
  for (const x of [4, 20, 32, 40, 64, 96]) {
    for (const y of [1, 3]) {
      expect(expectSame({ name: "", body, block: [x, y, 1], grid: [5, 1, 1], words: 1 }).reports).toEqual([]);
    }
  }
});

/** A wave over a tile, a diagonal between each two barriers; `last`: where the last of the words that it reads is. */
function wave(steps: number, { columns = 34, last = 0 } = {}): Omit<Parameters<typeof expectSame>[0], "block"> {
  const step = (m: number): string => `setp.gt.s32 %p${m & 7}, %r30, ${m}; @%p${m & 7} bra S${m};
ld.shared.u32 %r5, [%r4+${4 * m * columns}]; ld.shared.u32 %r6, [%r4+${4 * (m + 1) * columns}];
ld.shared.u32 %r7, [%r4+${4 * (m * columns + 1) + (m === steps - 1 ? last : 0)}]; mad.lo.u32 %r8, %r5, 3, %r6;
max.s32 %r8, %r8, %r7; add.u32 %r8, %r8, %r30; st.shared.u32 [%r4+${4 * ((m + 1) * columns + 1)}], %r8;
S${m}: bar.sync 0;`;
  const all = Array.from({ length: steps }, (_, m) => m);
  const body = `mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r30, %r2, %r3, %r1;
mov.u32 %r9, tile; mad.lo.s32 %r10, %r30, 4, %r9; mul.lo.s32 %r11, %r30, ${-4 * columns}; add.s32 %r4, %r10, %r11;
${all.map((m) => `st.shared.u32 [%r10+${4 * m * columns}], %t;`).join(" ")} bar.sync 0;
${all.map(step).join("\n")}
ld.shared.u32 %r12, [%r10+${4 * (steps - 1) * columns}]; ld.shared.u32 %r13, [%r10+${8 * columns}]; add.u32 %r12, %r12, %r13;
st.global.u32 [%out], %r12; ret;`;
  return { name: "", before: `.shared .align 4 .b32 tile[${columns * (steps + 1)}];`, body, grid: [3, 1, 1], words: 1 };
}

// With few steps the code is short, with many it is as long as compilers make it who unroll loops.
test.each([3, 12, 40, 60])("a wave of %i steps over a tile of a block that is one chunk", (steps) => {
  for (const block of [
    [16, 1, 1],
    [8, 4, 1],
    [32, 1, 1],
    [7, 1, 1],
  ] as const) {
    expect(expectSame({ ...wave(steps), block }).reports).toEqual([]);
  }
});

test.each([3, 60])("a lane of a wave of %i steps that reads what is no word of the tile", (steps) => {
  for (const last of [-4 * 34 * steps, 4 * 34 * 2]) {
    expect(expectSame({ ...wave(steps, { last }), block: [16, 1, 1] }).reports).toHaveLength(1);
  }
});
