import fc from "fast-check";
import { expect, test } from "vitest";
import type { PreparedCode } from "../../../src/jit/compile/analysis/code/prepared-code.ts";
import { halfFactor, SignedRanges } from "../../../src/jit/compile/analysis/values/signed-ranges.ts";
import { type Expr, fold, kit } from "../../../src/semantics/index.ts";

interface Case {
  readonly expr: Expr;
  /** The value of the word and of the bytes that it is computed from. */
  readonly leaves: readonly [number, number, number];
}

/** Registers: a word of which nothing is known, a byte, and a byte with a sign in a register of 16 bits. */
const word: Expr = { kind: "reg", ty: "i32", reg: 0 };
const byte: Expr = { kind: "reg", ty: "i32", reg: 1 };
const half: Expr = { kind: "reg", ty: "i32", reg: 2 };

const load = (bits: number, signed: boolean, to: number) => ({
  op: { kind: "load", access: { bits, signed, count: 1 }, place: { kind: "surface" } },
  dst: [to],
  guard: null,
});

const code = {
  instructions: [load(32, false, 0), load(8, false, 1), load(8, true, 2)],
  liveness: { liveIn: () => new Set<number>() },
  ir: {
    registers: [
      { class: "b32", bits: 32 },
      { class: "b32", bits: 32 },
      { class: "b32", bits: 16 },
    ],
    params: [],
  },
} as unknown as PreparedCode;

const numbers = [
  0, 1, 3, 7, 127, 128, 255, 256, 300, 0x7fff, 0x8000, 0xffff, -1, -128, -129, 0x7fff_ffff, -0x8000_0000,
];
const constant = fc.constantFrom(...numbers).map((n) => kit.i32(n));
const prim = (name: string, ...args: Expr[]): Expr => ({ kind: "prim", ty: "i32", prim: `i32.${name}` as never, args });

const expressions = fc.letrec<{ leaf: Expr; tree: Expr }>((tie) => ({
  leaf: fc.oneof(fc.constantFrom(word, byte, byte, half, half), constant),
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc
      .tuple(fc.constantFrom("add", "sub", "mul", "and", "or", "xor"), tie("tree"), tie("tree"))
      .map(([name, a, b]) => prim(name, a, b)),
    fc
      .tuple(fc.constantFrom("shl", "shr_s", "shr_u"), tie("tree"), fc.nat(31))
      .map(([name, a, n]) => prim(name, a, kit.i32(n))),
    fc
      .tuple(fc.constantFrom("mul_high_s", "mul_high_u"), tie("tree"), constant)
      .map(([name, a, b]) => prim(name, a, b)),
    fc.tuple(fc.constantFrom(8, 16), fc.boolean(), tie("tree")).map(([bits, s, a]) => kit.narrow(a, bits, s)),
    fc
      .tuple(fc.boolean(), fc.boolean(), tie("tree"), tie("tree"))
      .map(([min, s, a, b]) => kit[min ? "min" : "max"](a, b, s)),
    tie("tree").map((a) => kit.abs(a)),
  ),
})).tree;

const cases: fc.Arbitrary<Case> = fc.record({
  expr: expressions,
  leaves: fc.tuple(
    fc.oneof(fc.constantFrom(...numbers), fc.integer()),
    fc.integer({ min: 0, max: 255 }),
    fc.integer({ min: -128, max: 127 }).map((n) => n & 0xffff),
  ),
});

test("whatever an expression gives is in its range, and modulo 8 or 16 bits in that", () => {
  const ranges = new SignedRanges(code);
  fc.assert(
    fc.property(cases, ({ expr, leaves }) => {
      const value = fold(expr, (leaf) => leaves[(leaf as { readonly reg: number }).reg]!) as number;
      const { min, max } = ranges.of(expr);
      const fits = [8, 16].every((bits) => {
        const low = ranges.modulo(expr, bits);
        // Some number of the interval has the same low bits.
        const size = 2 ** bits;
        const distance = (((value - low.min) % size) + size) % size;
        return low.min + distance <= low.max;
      });
      return value >= min && value <= max && fits;
    }),
    { numRuns: 20_000 },
  );
});

// Divisions by constants, as compilers write them: the factor, and the largest dividend.
test.each([
  [3, 0x5555_5556, 0, 765, true],
  [9, 0x38e3_8e39, 1, 2295, true],
  // The high half is another for some, though not the quotient.
  [255, 0x8080_8081, 7, 65_025, false],
  [7, 0x2492_4925, 0, 65_535, false],
])("the high half of a product by %i", (divisor, factor, shift, max, exists) => {
  const found = halfFactor(factor, max);
  expect(found !== null).toBe(exists);
  if (found === null) return;
  for (let x = 0; x <= max; x++) expect((x * found) >>> (16 + shift)).toBe(Math.floor(x / divisor));
});
