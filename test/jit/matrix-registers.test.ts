import { expect, test } from "vitest";
import { type Case, expectSame, inWarps } from "./harness.ts";

/** Fragments of a thread's own: %r1 to %r4 of A, %r5 and %r6 of B, %r10 to %r13 of accumulators. */
const sums = "mul.lo.u32 %r1, %t, 0x01010203; and.b32 %r1, %r1, 0x3fff3fff; xor.b32 %r2, %r1, 0x80000400;";
const begin = `${sums} add.u32 %r3, %r1, 7; xor.b32 %r4, %r2, 0x10001; or.b32 %r5, %r1, 0x30003000;
  xor.b32 %r6, %r5, 0x8000; cvt.rn.f32.u32 %f0, %t; mov.b32 %r10, %f0; mov.u32 %r11, 0; mov.u32 %r12, 0xbf800000;
  mov.b32 %r13, %r10;`;
const store = "st.global.v4.b32 [%out], {%r10, %r11, %r12, %r13}; ret;";

const mma = (d: string, a: string, b: string, c: string): string =>
  `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {${d}}, {${a}}, {${b}}, {${c}};`;
const integers = (d: string, a: string, b: string, c: string): string =>
  `mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {${d}}, {${a}}, {${b}}, {${c}};`;
const [a, b, c] = ["%r1, %r2, %r3, %r4", "%r5, %r6", "%r10, %r11, %r12, %r13"];
const other = "%r14, %r15, %r16, %r17";

const programs: readonly (readonly [string, (product: typeof mma) => string])[] = [
  ["sums in place", (product) => product(c, a, b, c).repeat(3)],
  ["sums that go back and forth", (product) => `${product(other, a, b, c)} ${product(c, a, b, other)}`],
  ["sums in another order", (product) => product("%r13, %r11, %r10, %r12", a, b, c).repeat(2)],
  ["a result where factors were", (product) => `${product(a, a, b, c)} ${product(c, a, b, a)}`],
  ["a result of which a part was a factor", (product) => product("%r10, %r5, %r2, %r13", a, b, c).repeat(2)],
  [
    "factors that change in between",
    (product) =>
      `${product(c, a, b, c)} add.u32 %r2, %r2, %t; ${product(c, a, b, c)} mov.u32 %r6, %r5; ${product(c, a, b, c)}`,
  ],
  ["the same constant for all sums", (product) => `mov.u32 %r20, 0; ${product(c, a, b, "%r20, %r20, %r20, %r20")}`],
  [
    "sums in a loop with a barrier",
    (product) =>
      `mov.u32 %r20, 0; LOOP: ${product(c, a, b, c)} bar.sync 0; add.u32 %r1, %r1, %r20; ${product(c, a, b, c)}
     add.u32 %r20, %r20, 1; setp.lt.u32 %p0, %r20, 4; @%p0 bra LOOP; bar.sync 0; xor.b32 %r10, %r10, %r1;`,
  ],
  [
    "sums that are read one by one",
    (product) =>
      `${product(c, a, b, c)} shfl.sync.bfly.b32 %r11, %r11, 5, 31, -1; xor.b32 %r12, %r12, %r10; bar.sync 0;
     ${product(c, a, b, c)}`,
  ],
  [
    "a product of half of the warps",
    (product) =>
      `shr.u32 %r20, %t, 5; setp.eq.u32 %p0, %r20, 1; @%p0 bra SKIP; ${product(c, a, b, c)} SKIP: bar.sync 0;
     ${product(c, a, b, c)}`,
  ],
  [
    "sums that only some lanes have written before",
    (product) =>
      `setp.lt.u32 %p0, %t, 11; @%p0 bra SKIP; mov.u32 %r10, 0; mov.u32 %r12, %t; SKIP: bar.warp.sync -1;
     ${product(c, a, b, c)}`,
  ],
];

test.each(programs)("%s", (name, write) => {
  for (const product of [mma, integers]) {
    const program: Case = { name, block: [96, 1, 1], body: `${begin} ${write(product)} ${store}` };
    expect(expectSame(program, inWarps).reports).toEqual([]);
  }
});

/** What tiles cannot add: the launcher does it, and needs the factors and sums as they were. */
const exceptions = [
  ["a NaN among the sums", "setp.eq.u32 %p0, %t, 3; @%p0 mov.u32 %r11, 0x7fc01234;"],
  ["an infinity among the factors", "setp.eq.u32 %p0, %t, 40; @%p0 mov.u32 %r3, 0x7c003c00;"],
  ["huge sums", "setp.gt.u32 %p0, %t, 50; @%p0 mov.u32 %r13, 0x7f000000;"],
  ["tiny sums", "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r10, 0x00012345;"],
] as const;

test.each(exceptions)("%s", (name, change) => {
  const products = [mma(c, a, b, c), mma(other, a, b, c) + mma(c, a, b, other), mma(a, a, b, c) + mma(c, a, b, a)];
  for (const product of products) {
    const program: Case = { name, block: [64, 1, 1], body: `${begin} ${change} ${product} ${store}` };
    expect(expectSame(program, inWarps).reports).toEqual([]);
  }
});

// Nothing is written to registers whose values are known while code is written, not even where they would lie.
const known = [
  ["all of A", "%r21, %r22, %r23, %r24", b],
  ["a part of A", "%r1, %r22, %r23, %r4", b],
  ["B", a, "%r25, %r26"],
  ["both", "%r21, %r22, %r23, %r24", "%r25, %r26"],
] as const;

test.each(known)("factors that are the same in each warp: %s", (name, left, right) => {
  const numbers = `mov.u32 %r30, %tid.x; mov.u32 %r31, %ntid.x; add.u32 %r31, %r31, %r30; mul.lo.u32 %r21, %r31, 0x103;
  add.u32 %r22, %r21, 9; xor.b32 %r23, %r21, 0x3c003c00; shl.b32 %r24, %r23, 1; or.b32 %r25, %r21, 0x30003000;
  and.b32 %r26, %r25, 0x3fff3fff;`;
  for (const product of [mma, integers]) {
    for (const [between, block] of [
      ["", [32, 2, 1]],
      ["bar.sync 0;", [4, 4, 4]],
    ] as const) {
      const body = `${begin} ${numbers} ${between} ${product(c, left, right, c)} ${product(c, left, right, c)} ${store}`;
      expect(expectSame({ name, block, body }, inWarps).reports).toEqual([]);
    }
  }
});
