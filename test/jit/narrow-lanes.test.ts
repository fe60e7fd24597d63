import { expect, test } from "vitest";
import { expectSame } from "./harness.ts";

const threads = 64;

/** Bytes of all values, in no order. */
const byteOf = (i: number): number => (167 * i + 13) % 256;
const table = `.global .align 16 .b8 table[256] = {${Array.from({ length: 256 }, (_, i) => byteOf(i)).join(", ")}};
.global .align 16 .b8 kept[${threads}];`;

/** Two bytes of a thread, `%h0` and `%h1`, or with signs `%s0` and `%s1`, and words of them, `%r0` and `%r1`. */
const loads = `.reg .b16 %h<10>, %s<4>;
mov.u64 %d0, table; cvt.u64.u32 %d1, %t; add.s64 %d0, %d0, %d1;
ld.global.u8 %h0, [%d0]; ld.global.u8 %h1, [%d0+128]; cvt.u32.u16 %r0, %h0; cvt.u32.u16 %r1, %h1;
ld.global.s8 %s0, [%d0]; ld.global.s8 %s1, [%d0+128];`;

/** Stores the low byte of a register, and loads it again as the thread's result. */
const result = (from: string): string =>
  `mov.u64 %d2, kept; add.s64 %d2, %d2, %d1; st.global.u8 [%d2], ${from}; ld.global.u8 %r39, [%d2];
st.global.b32 [%out], %r39; ret;`;

const signed = (byte: number): number => (byte << 24) >> 24;

/** What is computed of two bytes, in `%h9`, and what must come out of it. */
const cases: readonly (readonly [code: string, expected: (a: number, b: number) => number])[] = [
  ["add.u16 %h9, %h0, %h1;", (a, b) => a + b],
  ["sub.u16 %h9, %h0, %h1;", (a, b) => a - b],
  ["mul.lo.u16 %h9, %h0, %h1;", (a, b) => a * b],
  ["mul.lo.s16 %h9, %s0, 77;", (a) => 77 * a],
  ["min.u16 %h9, %h0, %h1;", (a, b) => Math.min(a, b)],
  ["min.s16 %h9, %s0, %s1;", (a, b) => Math.min(signed(a), signed(b))],
  ["max.s16 %h9, %s0, %s1;", (a, b) => Math.max(signed(a), signed(b))],
  ["sub.s16 %h2, %h0, %h1; abs.s16 %h9, %h2;", (a, b) => Math.abs(a - b)],
  // Halves are needed between: the sum of two bytes has nine bits, and its half is a byte again.
  ["add.u16 %h2, %h0, %h1; shr.u16 %h9, %h2, 1;", (a, b) => (a + b) >> 1],
  ["sub.s16 %h2, %h0, %h1; shr.s16 %h9, %h2, 1;", (a, b) => (a - b) >> 1],
  ["mul.lo.u16 %h2, %h0, %h1; shr.u16 %h9, %h2, 8;", (a, b) => (a * b) >> 8],
  [
    "mad.lo.s32 %r2, %r0, %r1, %r0; add.s32 %r2, %r2, 128; shr.u32 %r3, %r2, 8; cvt.u16.u32 %h9, %r3;",
    (a, b) => (a * b + a + 128) >> 8,
  ],
  // Beyond 16 bits, of which those in the middle are kept.
  ["mad.lo.s32 %r2, %r0, %r1, 40000; shr.u32 %r3, %r2, 7; cvt.u16.u32 %h9, %r3;", (a, b) => (a * b + 40000) >> 7],
  ["shl.b16 %h2, %h0, 3; xor.b16 %h9, %h2, %h1;", (a, b) => (a << 3) ^ b],
  ["add.u16 %h2, %h0, 255; and.b16 %h3, %h2, 255; shr.u16 %h9, %h3, 2;", (a) => ((a + 255) & 255) >> 2],
  ["setp.gt.u16 %p0, %h0, %h1; selp.b16 %h9, %h0, 7, %p0;", (a, b) => (a > b ? a : 7)],
  ["setp.lt.s16 %p0, %s0, %s1; selp.b16 %h9, %h1, %h0, %p0;", (a, b) => (signed(a) < signed(b) ? b : a)],
  [
    "setp.le.u16 %p0, %h0, 128; @%p0 bra A; sub.u16 %h0, 255, %h0; A: mov.b16 %h9, %h0;",
    (a) => (a <= 128 ? a : 255 - a),
  ],
  ["mov.b16 %h9, 9; setp.ne.u16 %p0, %h0, %h1; @%p0 mov.b16 %h9, %h1;", (a, b) => (a === b ? 9 : b)],
  [
    "add.s32 %r2, %r0, %r1; add.s32 %r2, %r2, %r0; mul.hi.u32 %r3, %r2, 1431655766; cvt.u16.u32 %h9, %r3;",
    (a, b) => Math.floor((2 * a + b) / 3),
  ],
  [
    "cvt.s32.s8 %r2, %r0; cvt.s32.s8 %r3, %r1; min.s32 %r4, %r2, %r3; cvt.u16.u32 %h9, %r4;",
    (a, b) => Math.min(signed(a), signed(b)),
  ],
  // Rounds that differ from lane to lane.
  [
    "and.b32 %r2, %r1, 3; mov.b16 %h9, %h0; L: setp.eq.s32 %p0, %r2, 0; @%p0 bra E; mul.lo.s16 %h9, %h9, 5; add.s16 %h9, %h9, 3; sub.s32 %r2, %r2, 1; bra L; E: ",
    (a, b) => Array.from({ length: b & 3 }).reduce<number>((x) => 5 * x + 3, a),
  ],
];

test.each(cases)("%s", (code, expected) => {
  const body = `${loads}\n${code}\n${result("%h9")}`;
  const { out, reports } = expectSame({ name: code, before: table, body, block: [threads, 1, 1], words: 1 });
  expect(reports).toEqual([]);
  expect(out).toEqual(Array.from({ length: threads }, (_, t) => expected(byteOf(t), byteOf(t + 128)) & 255));
});

test.each([
  ["a chunk that is not full", [37, 1, 1]],
  ["rows that are shorter than a chunk", [5, 7, 1]],
] as const)("%s", (_, block) => {
  const body = `${loads} setp.gt.u16 %p0, %h0, %h1; @%p0 add.u16 %h0, %h0, %h1; ${result("%h0")}`;
  const { out, reports } = expectSame({ name: "", before: table, body, block, words: 1 });
  expect(reports).toEqual([]);
  const [a, b] = [byteOf, (t: number) => byteOf(t + 128)];
  expect(out).toEqual(out.map((_, t) => (a(t) > b(t) ? (a(t) + b(t)) & 255 : a(t))));
});

// Where only the first lanes execute a block, it is written for four of them, and vectors of narrow lanes have more.
test("bytes that are loaded backwards by the first lanes of a chunk", () => {
  const body = `${loads} setp.ge.u32 %p0, %t, 3; @%p0 bra A; cvt.s64.s32 %d3, %t; neg.s64 %d3, %d3;
    mov.u64 %d4, table; add.s64 %d4, %d4, %d3; ld.global.u8 %h2, [%d4+9]; add.u16 %h0, %h0, %h2; A: ${result("%h0")}`;
  const { out, reports } = expectSame({ name: "", before: table, body, block: [threads, 1, 1], words: 1 });
  expect(reports).toEqual([]);
  expect(out).toEqual(out.map((_, t) => (byteOf(t) + (t < 3 ? byteOf(9 - t) : 0)) & 255));
});

// A stencil: a lane's bytes lie in one word, and beside those of its neighbours.
const beside: readonly (readonly [string, string, (at: number) => number])[] = [
  [
    "bytes",
    "ld.global.u8 %h2, [%d0]; ld.global.u8 %h3, [%d0+1]; ld.global.u8 %h4, [%d0+2]; add.u16 %h9, %h2, %h3; sub.u16 %h9, %h9, %h4;",
    (at) => byteOf(at) + byteOf(at + 1) - byteOf(at + 2),
  ],
  [
    "bytes, of which some are also parts of a word",
    `ld.global.u8 %r2, [%d0]; ld.global.u8 %r3, [%d0+1]; ld.global.u8 %h4, [%d0+2]; shl.b32 %r4, %r3, 8; or.b32 %r4, %r4, %r2;
     mul.lo.u32 %r4, %r4, 3; shr.u32 %r4, %r4, 5; cvt.u16.u32 %h3, %r4; add.u16 %h9, %h3, %h4;`,
    (at) => (((byteOf(at) | (byteOf(at + 1) << 8)) * 3) >> 5) + byteOf(at + 2),
  ],
  [
    "bytes with signs beside others that are words",
    `ld.global.s8 %s2, [%d0]; ld.global.s8 %s3, [%d0+1]; ld.global.u8 %r2, [%d0+2]; min.s16 %s2, %s2, %s3;
     mul.lo.u32 %r2, %r2, %r2; shr.u32 %r2, %r2, 3; cvt.u16.u32 %h3, %r2; add.u16 %h9, %h3, %s2;`,
    (at) => Math.min(signed(byteOf(at)), signed(byteOf(at + 1))) + ((byteOf(at + 2) ** 2) >> 3),
  ],
  [
    "bytes in some lanes",
    `mov.u16 %h9, 5; rem.u32 %r2, %t, 3; setp.eq.u32 %p0, %r2, 0; @%p0 bra A; ld.global.u8 %h2, [%d0]; ld.global.u8 %h3, [%d0+1];
     add.u16 %h9, %h2, %h3; A:`,
    (at) => (at % 3 === 0 ? 5 : byteOf(at) + byteOf(at + 1)),
  ],
  [
    "bytes from the last lane to the first",
    `neg.s64 %d1, %d1; mov.u64 %d0, table; add.s64 %d0, %d0, %d1; ld.global.u8 %h2, [%d0+100]; ld.global.u8 %h3, [%d0+101];
     ld.global.u8 %h4, [%d0+102]; xor.b16 %h9, %h2, %h3; add.u16 %h9, %h9, %h4; neg.s64 %d1, %d1;`,
    (at) => (byteOf(100 - at) ^ byteOf(101 - at)) + byteOf(102 - at),
  ],
];

test.each(beside)("%s beside each other", (_, code, expected) => {
  const body = `${loads.replace("%s<4>", "%s<5>")}\n${code}\n${result("%h9")}`;
  for (const block of [
    [threads, 1, 1],
    [37, 1, 1],
    [5, 7, 1],
  ] as const) {
    const { out, reports } = expectSame({ name: code, before: table, body, block, words: 1 });
    expect(reports).toEqual([]);
    expect(out).toEqual(out.map((_, t) => expected(t) & 255));
  }
});
