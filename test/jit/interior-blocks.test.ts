import { expect, test } from "vitest";
import { expectSameReports, expectSameResults, type PtxCase } from "./both-engines.ts";

// Places in a picture of several blocks: clamped at its borders, taken modulo its size, or taken apart into rows and
// columns. Sizes end within a block, at its end, and a little before and after.

const grid = [5, 4] as const;
const [columns, rows] = [16, 4] as const;
const [width, height] = [grid[0] * columns, grid[1] * rows] as const;
const words = width * height;

/**
 * A module in which each thread stores what `body` leaves in `%v`, at its place. `%x`, `%y`: its column and row; `%w`,
 * `%h`: two parameters; `%in`: words, of which number i is 7 i + 3. `load` brings the word with number `%i`.
 */
const moduleOf = (body: string, before = ""): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .align 4 .b8 size[8]) {
  .reg .pred %p<9>;
  .reg .b32 %r<20>, %x, %y, %w, %h, %i, %v, %at;
  .reg .b64 %in, %out, %d<4>;
  ${before}
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %w, [size]; ld.param.u32 %h, [size+4];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %x, %r1, %r2, %r0;
  mov.u32 %r3, %tid.y; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ntid.y; mad.lo.s32 %y, %r4, %r5, %r3;
  mad.lo.s32 %at, %y, ${width}, %x;
  ${body}
  mul.wide.s32 %d2, %at, 4; add.s64 %d3, %out, %d2; st.global.u32 [%d3], %v;
  ret;
  END:
}`;
const load = "mul.wide.s32 %d0, %i, 4; add.s64 %d1, %in, %d0; ld.global.u32 %v, [%d1];";

/** What compiled code stores for parameters w and h, which is also what the interpreter does. */
function stored(
  body: string,
  w: number,
  h: number,
  before = "",
  launch: PtxCase["launch"] = { grid, block: [columns, rows] },
): readonly number[] {
  const input = new Uint8Array(Uint32Array.from({ length: words }, (_, i) => 7 * i + 3).buffer);
  const [, out] = expectSameResults({
    text: moduleOf(body, before),
    buffers: [input, new Uint8Array(4 * words)],
    blob: new Uint8Array(Int32Array.of(w, h).buffer),
    launch,
  });
  return [...new Uint32Array(out!.slice().buffer)];
}

/** The words with these numbers, for each thread. */
const wordsAt = (number: (x: number, y: number) => number): readonly number[] =>
  Array.from({ length: words }, (_, at) => 7 * number(at % width, Math.floor(at / width)) + 3);

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

const sizes = [1, 15, 16, 17, 31, 32, 33, 47, 48, 62, 63, 64, 65, 78, 79, 80] as const;

test.each([-17, -1, 0, 1, 2, 16])("columns at a distance of %i, clamped", (distance) => {
  const body = `add.s32 %r6, %x, ${distance}; max.s32 %r7, %r6, 0; add.s32 %r8, %w, -1; min.s32 %r9, %r7, %r8;
    mad.lo.s32 %i, %y, ${width}, %r9; ${load}`;
  for (const w of sizes) {
    expect(stored(body, w, 0)).toEqual(wordsAt((x, y) => y * width + clamp(x + distance, 0, w - 1)));
  }
});

test.each(["selp.b32 %r7, %r6, %x, %p0", "selp.b32 %r7, %x, %r6, %p1"])("a neighbour if there is one: %s", (select) => {
  const body = `add.s32 %r6, %x, 1; setp.lt.s32 %p0, %r6, %w; setp.ge.s32 %p1, %r6, %w; ${select};
    mad.lo.s32 %i, %y, ${width}, %r7; ${load}`;
  for (const w of sizes) {
    expect(stored(body, w, 0)).toEqual(wordsAt((x, y) => y * width + ((x + 1 < w ? x + 1 : x) % width)));
  }
});

test.each(["s32", "u32"])("columns and rows of a torus, by rem.%s", (type) => {
  const body = `add.s32 %r6, %x, %w; add.s32 %r7, %r6, -1; rem.${type} %r8, %r7, %w;
    add.s32 %r9, %y, 1; rem.${type} %r10, %r9, %h; mad.lo.s32 %i, %r10, ${width}, %r8; ${load}`;
  for (const w of sizes) {
    for (const h of [1, 3, 4, 7, 8, 15, 16]) {
      expect(stored(body, w, h)).toEqual(wordsAt((x, y) => ((y + 1) % h) * width + ((x + w - 1) % w)));
    }
  }
});

test("numbers of threads taken apart into rows and columns", () => {
  const body = `mul.lo.s32 %r6, %r1, %r2; add.s32 %r7, %r6, %r0; mad.lo.s32 %r8, %y, ${width}, %r7;
    div.s32 %r9, %r7, %w; rem.s32 %r10, %r7, %w; mad.lo.s32 %i, %r9, 16, %r10; ${load}`;
  for (const w of [1, 5, 16, 20, 32, 33, 64, 80]) {
    const at = (x: number): number => Math.floor(x / w) * 16 + (x % w);
    expect(stored(body, w, 0)).toEqual(wordsAt((x) => at(x)));
  }
});

test.each([0, -1, -7, 2 ** 31 - 1, -(2 ** 31)])("a divisor of %i", (w) => {
  const body = `rem.s32 %r6, %x, %w; div.s32 %r7, %x, %w; xor.b32 %r8, %r6, %r7;
    and.b32 %i, %r8, 63; ${load}`;
  const remainder = (x: number): number => (w === 0 ? -1 : x % w);
  const quotient = (x: number): number => (w === 0 ? -1 : Math.trunc(x / w));
  expect(stored(body, w, 0)).toEqual(wordsAt((x) => (remainder(x) ^ quotient(x)) & 63));
});

test("coordinates that overflow where they are compared", () => {
  // Where w is near the largest number, the sum is negative for the last columns.
  const body = `add.s32 %r6, %x, %w; max.s32 %r7, %r6, 0; sub.s32 %r8, %r7, %w; and.b32 %r9, %r8, 127;
    min.u32 %r10, %r9, ${words - 1}; mov.b32 %i, %r10; ${load}`;
  for (const w of [2 ** 31 - 1, 2 ** 31 - 33, 2 ** 31 - 40, -40, -(2 ** 31)]) {
    const at = (x: number): number => Math.min(((Math.max((x + w) | 0, 0) - w) | 0) & 127, words - 1);
    expect(stored(body, w, 0)).toEqual(wordsAt((x) => at(x)));
  }
});

test("several coordinates of which none is negative", () => {
  const body = `add.s32 %r6, %x, -1; add.s32 %r7, %y, -2; or.b32 %r8, %r6, %r7; setp.gt.s32 %p0, %r8, -1;
    selp.b32 %r9, %r6, 0, %p0; selp.b32 %r10, %r7, 0, %p0; mad.lo.s32 %i, %r10, ${width}, %r9; ${load}`;
  expect(stored(body, 0, 0)).toEqual(wordsAt((x, y) => (x >= 1 && y >= 2 ? (y - 2) * width + x - 1 : 0)));
});

test("a condition that is a constant on one way, and another one on the other", () => {
  const body = `add.s32 %r6, %x, -1; max.s32 %r7, %r6, 0; mad.lo.s32 %i, %y, ${width}, %r7; ${load}
    mov.pred %p0, 1; setp.lt.s32 %p1, %r0, 5; @%p1 bra NEXT; mov.pred %p0, 0; NEXT: @!%p0 add.s32 %v, %v, 1;`;
  const want = wordsAt((x, y) => y * width + Math.max(x - 1, 0));
  expect(stored(body, 0, 0)).toEqual(want.map((word, at) => word + (at % columns < 5 ? 0 : 1)));
});

test("a branch to the end of the code, after which nothing is executed again", () => {
  const body = `add.s32 %r6, %x, -1; max.s32 %r7, %r6, 0; mad.lo.s32 %i, %y, ${width}, %r7; ${load}
    mul.wide.s32 %d2, %at, 4; add.s64 %d3, %out, %d2; red.global.add.u32 [%d3], 1;
    setp.lt.s32 %p1, %r0, 5; @%p1 bra END;`;
  const want = wordsAt((x, y) => y * width + Math.max(x - 1, 0));
  expect(stored(body, 0, 0)).toEqual(want.map((word, at) => (at % columns < 5 ? 1 : word)));
});

test("neighbours of a tile in shared memory, between barriers", () => {
  // The tile's ends are those of the block, or of the picture.
  const body = `mov.u32 %r6, tile; mul.lo.s32 %r7, %r3, 64; add.s32 %r8, %r6, %r7; shl.b32 %r9, %r0, 2;
    add.s32 %r10, %r8, %r9; mov.b32 %i, %at; ${load} st.shared.u32 [%r10], %v; bar.sync 0;
    sub.s32 %r11, %x, %r0; neg.s32 %r12, %r11; max.s32 %r13, %r12, 0; sub.s32 %r14, %w, %r11; add.s32 %r14, %r14, -1;
    min.s32 %r15, %r14, 15; add.s32 %r16, %r0, -1; max.s32 %r16, %r16, %r13; add.s32 %r17, %r0, 1;
    min.s32 %r17, %r17, %r15; max.s32 %r17, %r17, 0;
    shl.b32 %r16, %r16, 2; add.s32 %r16, %r8, %r16; ld.shared.u32 %r18, [%r16];
    shl.b32 %r17, %r17, 2; add.s32 %r17, %r8, %r17; ld.shared.u32 %r19, [%r17];
    bar.sync 0; sub.s32 %v, %r19, %r18;`;
  for (const w of sizes) {
    const out = stored(body, w, 0, ".shared .align 4 .b8 tile[256];").map((word) => word | 0);
    const want = Array.from({ length: words }, (_, at) => {
      const first = (at % width) & ~15;
      const t = (at % width) - first;
      return 7 * (Math.max(Math.min(t + 1, Math.min(w - first - 1, 15)), 0) - Math.max(t - 1, 0));
    });
    expect(out).toEqual(want);
  }
});

test.each([
  ["a sign's bits", "shr.s32 %r14, %r9, 31; neg.s32 %r13, %r9; and.b32 %r13, %r14, %r13"],
  ["the larger of two", "neg.s32 %r13, %r9; max.s32 %r13, %r13, 0"],
  [
    "the complement of a sign's bits",
    "neg.s32 %r13, %r9; shr.s32 %r14, %r13, 31; not.b32 %r14, %r14; and.b32 %r13, %r13, %r14",
  ],
])("tiles that overlap by a halo, whose first place is that of the picture: %s", (_, least) => {
  // Blocks begin as many columns apart as they have, less the halo on both sides, of which a parameter is the width.
  const body = `shl.b32 %r6, %h, 1; sub.s32 %r7, 16, %r6; mul.lo.s32 %r8, %r7, %r1; sub.s32 %r9, %r8, %h;
    add.s32 %r10, %r9, %r0; setp.gt.s32 %p0, %r10, -1; setp.lt.s32 %p1, %r10, %w; and.pred %p2, %p0, %p1;
    mov.u32 %r11, tile; mad.lo.s32 %r11, %r3, 64, %r11; mad.lo.s32 %r12, %r0, 4, %r11; @!%p2 bra OUTSIDE;
    mad.lo.s32 %i, %y, ${width}, %r10; ${load} st.shared.u32 [%r12], %v; OUTSIDE: bar.sync 0; mov.u32 %v, 0;
    ${least}; add.s32 %r14, %r9, 15; setp.lt.s32 %p3, %r14, %w; sub.s32 %r15, %w, %r9; add.s32 %r15, %r15, -1;
    selp.b32 %r15, 15, %r15, %p3; add.s32 %r16, %r0, -1; max.s32 %r16, %r16, %r13; add.s32 %r17, %r0, 1;
    min.s32 %r17, %r17, %r15; mad.lo.s32 %r16, %r16, 4, %r11; mad.lo.s32 %r17, %r17, 4, %r11; @!%p2 bra DONE;
    ld.shared.u32 %r18, [%r16]; ld.shared.u32 %r19, [%r17]; sub.s32 %v, %r19, %r18; DONE:`;
  for (const [w, h] of [...sizes.map((size) => [size, 2] as const), [80, 0], [80, 1], [50, 7], [33, 8]] as const) {
    const out = stored(body, w, h, ".shared .align 4 .b8 tile[256];").map((word) => word | 0);
    const want = Array.from({ length: words }, (_, at) => {
      const [block, t] = [Math.floor((at % width) / columns), at % columns];
      const first = (columns - 2 * h) * block - h;
      if (first + t < 0 || first + t >= w) return 0;
      return 7 * (Math.min(t + 1, w - first - 1, columns - 1) - Math.max(t - 1, -first, 0));
    });
    expect(out).toEqual(want);
  }
});

const threads = 64;
/** Lengths of rows: such that all threads of a block have as many elements, and others. */
const lengths = [-64, -1, 0, 1, 64, 65, 128, 192, 257, 511, 512] as const;

const storedByRows = (body: string, w: number): readonly number[] =>
  stored(body, w, 0, "", { grid: words / threads, block: threads });

test("rows of several lengths, of which each thread adds up every 64th word", () => {
  // As compilers unroll it: rounds that are left over, then four at once. The counter has been the thread's number.
  const word = (at: number): string => `ld.global.u32 %r6, [%d2+${256 * at}]; add.s32 %v, %v, %r6;`;
  const body = `mov.u32 %v, 0; setp.ge.s32 %p0, %r0, %w; @%p0 bra DONE;
    not.b32 %r7, %r0; add.s32 %r8, %r7, %w; shr.u32 %r9, %r8, 6; add.s32 %r10, %r9, 1; and.b32 %r11, %r10, 3;
    mul.wide.s32 %d1, %r0, 4; add.s64 %d2, %in, %d1; setp.eq.s32 %p1, %r11, 0; @%p1 bra FOURS;
    REST: ${word(0)} add.s64 %d2, %d2, 256; add.s32 %r0, %r0, 64; add.s32 %r11, %r11, -1;
    setp.ne.s32 %p2, %r11, 0; @%p2 bra REST;
    FOURS: setp.lt.u32 %p3, %r8, 192; @%p3 bra DONE;
    NEXT: ${[0, 1, 2, 3].map(word).join("")} add.s64 %d2, %d2, 1024; add.s32 %r0, %r0, 256;
    setp.lt.s32 %p4, %r0, %w; @%p4 bra NEXT; DONE:`;
  for (const w of lengths) {
    const sums = Array.from({ length: threads }, (_, t) => {
      let sum = 0;
      for (let i = t; i < w; i += threads) sum += 7 * i + 3;
      return sum;
    });
    expect(storedByRows(body, w)).toEqual(Array.from({ length: words }, (_, at) => sums[at % threads]));
  }
});

test.each([
  ["lt.u32 %p3, %r8, 128", (x: number) => x >>> 0 < 128],
  ["le.u32 %p3, %r8, 127", (x: number) => x >>> 0 <= 127],
  ["gt.s32 %p3, %r8, 191", (x: number) => x > 191],
  ["ge.u32 %p3, %r8, 64", (x: number) => x >>> 0 >= 64],
  ["lt.u32 %p3, %r8, 85", (x: number) => x >>> 0 < 85],
  ["ge.s32 %p3, %r8, 127", (x: number) => x >= 127],
  ["lt.s32 %p3, %r8, -64", (x: number) => x < -64],
  ["gt.u32 %p3, 192, %r8", (x: number) => x >>> 0 < 192],
])("the number of which rounds are a quotient, compared: %s", (comparison, holds) => {
  const body = `not.b32 %r7, %r0; add.s32 %r8, %r7, %w; shr.s32 %r9, %r8, 6; and.b32 %r11, %r9, 7; mov.u32 %v, 0;
    NEXT: add.s32 %v, %v, 2; add.s32 %r11, %r11, -1; setp.ge.s32 %p2, %r11, 0; @%p2 bra NEXT;
    setp.${comparison}; @%p3 add.s32 %v, %v, 1;`;
  for (const w of lengths) {
    const of = (x: number): number => 2 * ((x >> 6) & 7) + 2 + Number(holds(x));
    expect(storedByRows(body, w)).toEqual(Array.from({ length: words }, (_, at) => of(w - 1 - (at % threads))));
  }
});

test("an access beyond the buffer is reported where it stands in the program", () => {
  const body = `add.s32 %r6, %x, 1; min.s32 %r7, %r6, %w; mad.lo.s32 %i, %y, ${width}, %r7; ${load}`;
  const buffer = new Uint8Array(4 * words);
  const reports = expectSameReports({
    text: moduleOf(body),
    buffers: [buffer, buffer],
    blob: new Uint8Array(Int32Array.of(width, 0).buffer),
    launch: { grid, block: [columns, rows] },
  });
  expect(reports).toMatchObject([{ code: "global-out-of-bounds" }]);
});
