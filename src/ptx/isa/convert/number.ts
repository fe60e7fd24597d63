import type { Expr, Kit } from "../../../semantics/index.ts";
import { isSigned, widthOf } from "../integer/integer-type.ts";

export const integerTypes = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"] as const;
export type IntegerType = (typeof integerTypes)[number];
export type FloatType = "f16" | "bf16" | "f32" | "f64";
export type FloatRounding = "rn" | "rz" | "rm" | "rp";
export const frnd = ["rn", "rz", "rm", "rp"] as const satisfies readonly FloatRounding[];
export const irnd = ["rni", "rzi", "rmi", "rpi"] as const;

/** Why `.ftz` cannot be used with a conversion. */
export const ftzNeedsF32 = "'.ftz' applies to '.f32' values, but this conversion has none";
/** Why `.sat` cannot be used with a conversion. */
export const satExcludesBf16 = "'.sat' is not available for conversions with '.bf16'";

/** The smallest and largest value of an integer type. */
export const rangeOf = (type: IntegerType): readonly [bigint, bigint] => {
  const span = 1n << BigInt(widthOf(type));
  return isSigned(type) ? [-span / 2n, span / 2n - 1n] : [0n, span - 1n];
};

/** Converts a floating-point operand to binary64, which is exact. `flush` applies to f32. */
export function floatToNumber(k: Kit, type: FloatType, a: Expr, flush = false): Expr {
  if (type === "f64") return a;
  if (type === "f16") return k.op("f64.from_f32", k.op("f32.from_f16", a));
  if (type === "bf16") return k.op("f64.from_f32", k.op("f32.from_bf16", a));
  return k.op("f64.from_f32", flush ? k.op("f32.ftz", a) : a);
}

/** Rounds a binary64 number to the type. `flush` applies to f32. */
export function numberToFloat(k: Kit, type: FloatType, x: Expr, rounding: FloatRounding, flush = false): Expr {
  switch (type) {
    case "f64":
      return x;
    case "f16":
      return k.op(`i32.f16_from_f64_${rounding}`, x);
    case "bf16":
      return k.op(`i32.bf16_from_f64_${rounding}`, x);
    case "f32": {
      // A number that was converted from binary32 needs no rounding.
      const exact = x.kind === "prim" && x.prim === "f64.from_f32" ? x.args[0] : undefined;
      const rounded = exact ?? k.op(`f32.from_f64_${rounding}`, x);
      return flush ? k.op("f32.ftz", rounded) : rounded;
    }
  }
}

/** Converts an integer operand to binary64. A 64-bit one is rounded as given, or to odd if another rounding follows. */
export function integerToNumber(k: Kit, type: IntegerType, a: Expr, rounding: FloatRounding | "odd"): Expr {
  const sign = isSigned(type) ? "s" : "u";
  return widthOf(type) === 64 ? k.op(`f64.from_i64_${sign}_${rounding}`, a) : k.op(`f64.from_i32_${sign}`, a);
}

/** Converts an integral binary64 number to an integer, clamped to the range of the type; `ofNan` for NaN. */
export function numberToInteger(k: Kit, type: IntegerType, x: Expr, ofNan: bigint): Expr {
  const value = k.op(widthOf(type) === 64 ? `i64.${type as "s64"}_from_f64` : `i32.${type as "s32"}_from_f64`, x);
  return ofNan === 0n ? value : k.select(k.op("f64.cmp_nan", x, x), k.int(value, ofNan), value);
}

/** The modifiers that limit the result of a conversion. */
export interface Limits {
  readonly relu: boolean;
  readonly satfinite: boolean;
}

/** The largest finite numbers. */
const maxFinite: Readonly<Record<"f16" | "bf16" | "tf32", number>> = {
  f16: 65504,
  bf16: (2 - 2 ** -7) * 2 ** 127,
  tf32: (2 - 2 ** -10) * 2 ** 127,
};

/** Applies `.relu` and `.satfinite`. Both are monotonic, so they can be applied before rounding. */
export function limited(k: Kit, x: Expr, type: keyof typeof maxFinite, { relu, satfinite }: Limits): Expr {
  const positive = relu ? k.op("f64.relu", x) : x;
  return satfinite ? k.op("f64.limit", positive, k.f64(maxFinite[type])) : positive;
}

/** Joins two elements of `bits` bits each. The bits of `low` above these must be 0. */
export const joined = (k: Kit, high: Expr, low: Expr, bits: number): Expr => k.or(k.shl(high, k.i32(bits)), low);
