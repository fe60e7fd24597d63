import fc from "fast-check";
import { expect, test } from "vitest";
import { GridStrides } from "../../../src/jit/compile/analysis/values/grid-strides.ts";
import type { Invariants } from "../../../src/jit/compile/analysis/values/invariant-code.ts";
import { LaneQuestion } from "../../../src/ir/uniformity/lane-question.ts";
import { numbers, type Shape, uniform } from "../../../src/ir/uniformity/shape.ts";
import type { UniformityAnalysis } from "../../../src/jit/compile/analysis/values/uniformity.ts";
import { type Expr, fold, kit } from "../../../src/semantics/index.ts";

// The rules of linear-form.ts against what expressions give: whatever a question says about a step must be the
// difference of the values at two neighbouring points, modulo 2^32 or 2^64, wherever operands and results wrap around.

const tid: Expr = { kind: "special", ty: "i32", name: "tid.x" };
const block: Expr = { kind: "special", ty: "i32", name: "ctaid.x" };
/** The same everywhere, and not known. */
const size: Expr = { kind: "special", ty: "i32", name: "ntid.x" };

const constants = [0, 1, 2, 3, 4, 15, 16, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff].map((c) => c | 0);

const { word, wide } = fc.letrec<{ word: Expr; wide: Expr }>((tie) => {
  const words = fc.tuple(tie("word"), tie("word"));
  const wides = fc.tuple(tie("wide"), tie("wide"));
  const shifts = fc.constantFrom(0, 1, 2, 4, 31, 32).map((by) => kit.i32(by));
  return {
    word: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.constantFrom(tid, tid, block, size),
      fc.constantFrom(...constants).map(kit.i32),
      words.map(([a, b]) => kit.add(a, b)),
      words.map(([a, b]) => kit.sub(a, b)),
      words.map(([a, b]) => kit.mul(a, b)),
      tie("word").map(kit.not),
      fc.tuple(tie("word"), shifts).map(([a, by]) => kit.shl(a, by)),
      fc.tuple(tie("word"), shifts).map(([a, by]) => kit.shr(a, by, false)),
      words.map(([a, b]) => kit.and(a, b)),
      words.map(([a, b]) => kit.or(a, b)),
      fc.tuple(tie("word"), shifts).map(([a, by]) => kit.shr(a, by, true)),
      fc.tuple(words, words).map(([[a, b], [c, d]]) => kit.select(kit.lt(a, b, true), c, d)),
      fc.tuple(words, words).map(([[a, b], [c, d]]) => kit.select(kit.le(a, b, false), c, d)),
      tie("wide").map(kit.wrap),
    ),
    wide: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.tuple(tie("word"), fc.boolean()).map(([a, signed]) => kit.widen(a, signed)),
      fc.constantFrom(...constants).map((c) => kit.i64(BigInt(c))),
      wides.map(([a, b]) => kit.add(a, b)),
      wides.map(([a, b]) => kit.sub(a, b)),
      wides.map(([a, b]) => kit.mul(a, b)),
      tie("wide").map(kit.not),
      fc.tuple(tie("wide"), shifts).map(([a, by]) => kit.shl(a, by)),
    ),
  };
});

type Point = Readonly<Record<"tid.x" | "ctaid.x" | "ntid.x", number>>;

const valueAt = (expr: Expr, point: Point): bigint =>
  BigInt(fold(expr, (leaf) => point[(leaf as { readonly name: keyof Point }).name]) as number | bigint);

const number = fc.oneof(fc.nat(70), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));

/** Sums of thread numbers and constants rely on their being far from where 32 bits end. */
const thread = fc.oneof(fc.nat(70), fc.nat(2 ** 30 - 1));

const runs = { numRuns: 2000 };

test("the stride of a shape is the difference between lanes", () => {
  const question = new LaneQuestion({
    register: () => null,
    special: ({ name }): Shape => (name === "tid.x" ? numbers(16) : uniform),
  });
  fc.assert(
    fc.property(fc.oneof(word, wide), thread, number, fc.nat(14), (expr, first, other, lane) => {
      const shape = question.of(expr)!;
      // A chunk begins with a multiple of its 16 lanes.
      const at = (l: number): bigint =>
        valueAt(expr, { "tid.x": (first & ~15) + l, "ctaid.x": other, "ntid.x": other });
      const bits = expr.ty === "i32" ? 32 : 64;
      if (shape.kind === "uniform") expect(at(0) % BigInt(shape.alignment ?? 1)).toBe(0n);
      const difference = BigInt.asUintN(bits, at(lane + 1) - at(lane));
      if (shape.kind === "uniform") expect(difference).toBe(0n);
      if (shape.kind === "affine") expect(difference).toBe(BigInt.asUintN(bits, BigInt(shape.stride)));
      if (shape.kind === "affine" && shape.width !== undefined) {
        const { width, above = 0 } = shape;
        expect((Number(at(0)) - above) & (width - 1)).toBe(0);
        if (shape.isFar !== true) expect(Math.abs(Number(at(0)) - above)).toBeLessThan(2 ** 30);
      }
      // extend(index) moves on by the stride, but for a multiple of 2^32 where the index wraps around.
      if (shape.kind === "indexed" && shape.stride !== null) {
        const unit = BigInt.asUintN(64, BigInt(shape.scale)) << 32n;
        const rest = BigInt.asIntN(64, difference - BigInt(shape.stride) * BigInt(shape.scale));
        const divisor = BigInt.asIntN(64, unit);
        expect(divisor === 0n ? rest : rest % divisor).toBe(0n);
      }
    }),
    runs,
  );
});

const none = { grid: [], block: [], chunk: [] } as unknown as Invariants;

const gridStrides = (): GridStrides =>
  new GridStrides({ code: { instructions: [] } } as unknown as UniformityAnalysis, none);

test("the strides of the grid are differences between threads and between blocks", () => {
  fc.assert(
    fc.property(word, number, number, number, (expr, thread, ctaid, ntid) => {
      const strides = gridStrides().of(expr);
      if (strides === null) return;
      const point: Point = { "tid.x": thread, "ctaid.x": ctaid, "ntid.x": ntid };
      for (const axis of ["tid.x", "ctaid.x"] as const) {
        const next = valueAt(expr, { ...point, [axis]: (point[axis] + 1) | 0 });
        const step = strides.get(axis);
        const wanted = step === undefined ? 0n : valueAt(step, point);
        expect(BigInt.asIntN(32, next - valueAt(expr, point) - wanted)).toBe(0n);
      }
    }),
    runs,
  );
});

test("an address depends on the thread by its index alone", () => {
  fc.assert(
    fc.property(wide, number, number, number, (expr, a, b, ntid) => {
      const strides = gridStrides();
      const index = strides.indexOf(expr);
      const [p, q] = [a, b].map((thread): Point => ({ "tid.x": thread, "ctaid.x": 3, "ntid.x": ntid }));
      if (strides.isSame(expr)) expect(valueAt(expr, p!)).toBe(valueAt(expr, q!));
      else if (index !== null && valueAt(index, p!) === valueAt(index, q!)) {
        expect(valueAt(expr, p!)).toBe(valueAt(expr, q!));
      }
    }),
    runs,
  );
});
