import fc from "fast-check";
import { expect, test } from "vitest";
import type { UniformityAnalysis } from "../../../src/jit/compile/analysis/values/uniformity.ts";
import { ValueRanges } from "../../../src/jit/compile/analysis/values/value-ranges.ts";
import { type Expr, fold, kit } from "../../../src/semantics/index.ts";

/** A value as a leaf says, and what it is in one lane. */
type Leaves = Map<Expr, number>;

const words = [0, 1, 3, 4, 7, 8, 255, 256, 1020, 1023, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, 0xffff_ffff];
const word = fc.oneof(fc.constantFrom(...words), fc.integer({ min: 0, max: 0xffff_ffff }));
const binary = ["add", "sub", "mul", "and", "or", "xor", "rem_u"] as const;

/** Expressions over constants, thread numbers and registers of which nothing is known. */
const expressions: fc.Arbitrary<{ expr: Expr; leaves: Leaves }> = fc.letrec((tie) => ({
  leaf: fc.oneof(
    word.map((value) => ({ expr: kit.i32(value | 0), leaves: new Map() })),
    fc.nat(1023).map((value) => {
      const expr: Expr = { kind: "special", ty: "i32", name: "tid.x" };
      return { expr, leaves: new Map([[expr, value]]) };
    }),
    word.map((value) => {
      const expr: Expr = { kind: "reg", ty: "i32", reg: 0 };
      return { expr, leaves: new Map([[expr, value | 0]]) };
    }),
  ),
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.record({ name: fc.constantFrom(...binary), a: tie("tree"), b: tie("tree") }).map(({ name, a, b }) => {
      const [x, y] = [a, b] as { expr: Expr; leaves: Leaves }[];
      const expr: Expr = { kind: "prim", ty: "i32", prim: `i32.${name}`, args: [x!.expr, y!.expr] };
      return { expr, leaves: new Map([...x!.leaves, ...y!.leaves]) };
    }),
    fc.record({ name: fc.constantFrom("shl", "shr_u"), a: tie("tree"), by: fc.nat(31) }).map(({ name, a, by }) => {
      const { expr: x, leaves } = a as { expr: Expr; leaves: Leaves };
      const expr: Expr = { kind: "prim", ty: "i32", prim: `i32.${name}`, args: [x, kit.i32(by)] };
      return { expr, leaves };
    }),
  ),
})).tree as fc.Arbitrary<{ expr: Expr; leaves: Leaves }>;

/** A function whose only register is a parameter. */
const nothingKnown = {
  code: {
    instructions: [],
    writes: Uint32Array.of(1),
    liveness: { liveIn: () => ({ has: () => true }) },
    ir: { registers: [{ bits: 32 }] },
  },
} as unknown as UniformityAnalysis;

test("whatever an expression gives is in its range", () => {
  fc.assert(
    fc.property(expressions, ({ expr, leaves }) => {
      const { min, max, align } = new ValueRanges(nothingKnown, null).of(expr);
      const value = (fold(expr, (leaf) => leaves.get(leaf)!) as number) >>> 0;
      return value >= min && value <= max && value % align === 0;
    }),
    { numRuns: 3000 },
  );
});

// By hand: an index into a table, a byte of a word, what may wrap around.
test.each([
  [kit.add(kit.and(reg(), kit.i32(0x3fc)), kit.i32(0x100)), { min: 0x100, max: 0x4fc, align: 4 }],
  [prim("shr_u", reg(), kit.i32(24)), { min: 0, max: 255, align: 1 }],
  [prim("shl", reg(), kit.i32(3)), { min: 0, max: 2 ** 32 - 8, align: 8 }],
  [kit.add(reg(), kit.i32(1)), { min: 0, max: 2 ** 32 - 1, align: 1 }],
  [prim("rem_u", reg(), kit.i32(10)), { min: 0, max: 9, align: 1 }],
])("%# by hand", (expr, range) => {
  expect(new ValueRanges(nothingKnown, null).of(expr)).toEqual(range);
});

function reg(): Expr {
  return { kind: "reg", ty: "i32", reg: 0 };
}

function prim(name: string, ...args: Expr[]): Expr {
  return { kind: "prim", ty: "i32", prim: `i32.${name}` as never, args };
}
