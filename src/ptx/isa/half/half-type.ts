import type { Expr, Kit } from "../../../semantics/index.ts";
import { isPacked, perHalf } from "../integer/integer-type.ts";

export const f16Types = ["f16", "f16x2"] as const;
export const bf16Types = ["bf16", "bf16x2"] as const;
export type HalfType = (typeof f16Types)[number] | (typeof bf16Types)[number];

/** The gate of bf16 where an instruction had f16 before. */
export const bf16Gate = { since: "7.8", target: "sm_90" } as const;

const elementOf = (type: HalfType): "f16" | "bf16" => (type === "f16" || type === "f16x2" ? "f16" : "bf16");

/** Specs of the operands, which must be registers: there are no immediates of these types. */
export const oneOperand = { a: "reg type" } as const;
export const twoOperands = { a: "reg type", b: "reg type" } as const;
export const threeOperands = { a: "reg type", b: "reg type", c: "reg type" } as const;

type Elementwise = (...elements: readonly Expr[]) => Expr;

/** Applies `f` to scalar operands, or to each half of packed ones. Elements are bits in the low half of an `i32`. */
export const perElement = (k: Kit, type: HalfType, operands: readonly Expr[], f: Elementwise): Expr =>
  isPacked(type) ? perHalf(k, type, operands, f) : f(...operands);

/** An arithmetic operation on elements of the type. */
export const arithmetic = (
  k: Kit,
  name: "add" | "sub" | "mul" | "fma",
  type: HalfType,
  ...elements: readonly Expr[]
): Expr => k.op(`${elementOf(type)}.${name}`, ...elements);

/** Applies `f` to the elements as f32 values, and rounds its result to the element type, to nearest even. */
export function throughF32(k: Kit, type: HalfType, elements: readonly Expr[], f: Elementwise): Expr {
  const element = elementOf(type);
  const result = f(...elements.map((e) => k.op(`f32.from_${element}`, e)));
  return k.op(`i32.${element}_from_f64_rn`, k.op("f64.from_f32", result));
}

/** Applies `f`. With `.ftz` its subnormal f16 operands and results are flushed to zeros of the same sign. */
export function flushedF16(k: Kit, ftz: boolean, elements: readonly Expr[], f: Elementwise): Expr {
  return ftz ? k.op("i32.flush_f16", f(...elements.map((e) => k.op("i32.flush_f16", e)))) : f(...elements);
}

const F16_INFINITY = 0x7c00;
const F16_ONE = 0x3c00;

/** Applies `.sat` to an f16 result: bits above those of infinity are NaNs and negative numbers, which become +0. */
export const saturatedF16 = (k: Kit, sat: boolean, value: Expr): Expr =>
  sat ? k.select(k.lt(k.i32(F16_INFINITY), value, true), k.i32(0), k.min(value, k.i32(F16_ONE), true)) : value;

/** Applies `.relu` to a result: values with the sign bit become +0. A NaN result is 0x7fff, which has none. */
export const rectified = (k: Kit, relu: boolean, value: Expr): Expr =>
  relu ? k.select(k.lt(k.i32(0x7fff), value, true), k.i32(0), value) : value;

/** The bits of infinity. */
export const infinityOf = (type: HalfType): number => (elementOf(type) === "f16" ? F16_INFINITY : 0x7f80);
