import { type Expr, kit as k, type PrimName } from "../../semantics/index.ts";
import { type DataType, isFloat, typeBytes } from "../types.ts";
import { control } from "./float-arithmetic.ts";
import { type ModifiedSource, promote, promotedFloat, rangeOf } from "./promotion.ts";

/** An integer result in the destination's type: its low bits or, if saturated, the nearest number that the type has. */
export function storedInteger(value: Expr, signed: boolean, to: DataType, saturate: boolean): Expr {
  const clamped = saturate ? clamp(value, signed, to) : value;
  const long = typeBytes(to) === 8;
  if (clamped.ty === "i64") return long ? clamped : k.wrap(clamped);
  return long ? k.widen(clamped, signed) : clamped;
}

function clamp(value: Expr, signed: boolean, to: DataType): Expr {
  const own = rangeOf(value.ty === "i64" ? (signed ? "q" : "uq") : signed ? "d" : "ud");
  const { min, max } = rangeOf(to);
  const raised = min > own.min ? k.max(value, k.int(value, min), signed) : value;
  return max < own.max ? k.min(raised, k.int(value, max), signed) : raised;
}

/** Conversions that truncate and clamp to the type, and turn NaN into 0 (2_datatypes.md, "Float to Integer"). */
const truncations: Readonly<Partial<Record<DataType, PrimName>>> = {
  b: "i32.s8_from_f64",
  ub: "i32.u8_from_f64",
  w: "i32.s16_from_f64",
  uw: "i32.u16_from_f64",
  d: "i32.s32_from_f64",
  ud: "i32.u32_from_f64",
  q: "i64.s64_from_f64",
  uq: "i64.u64_from_f64",
};

/** A floating-point result (`f32` or `f64`) in the destination's type. */
export function storedFloat(value: Expr, to: DataType, saturate: boolean): Expr {
  const toFloat = isFloat(to);
  const result = saturate && toFloat ? k.op(value.ty === "f64" ? "f64.saturate" : "f32.saturate", value) : value;
  const wide = (): Expr => (result.ty === "f64" ? result : k.op("f64.from_f32", result));
  switch (to) {
    case "f":
      return result.ty === "f32" ? result : k.op("f32.from_f64_mode", control, result);
    case "df":
      return wide();
    case "hf":
      return k.op("i32.f16_from_f64_mode", control, wide());
    case "bf":
      return k.op("i32.bf16_from_f64_mode", control, wide());
    default:
      return k.op(truncations[to] ?? "i32.s32_from_f64", wide());
  }
}

/** A source as `mov` converts it to a destination's type. */
export function converted(source: ModifiedSource, to: DataType, saturate: boolean): Expr {
  if (isFloat(source.type)) {
    if (source.type === to && !saturate) return sameBits(source);
    return storedFloat(promotedFloat(source, source.type === "df" ? "f64" : "f32"), to, saturate);
  }
  if (!isFloat(to)) {
    const { sources, signed } = promote([source], saturate ? "order" : "low", typeBytes(to) * 8, false);
    return storedInteger(sources[0]!, signed, to, saturate);
  }
  const { sources, ty, signed } = promote([source], "order", null, false);
  return storedFloat(integerToFloat(sources[0]!, ty, signed, to), to, saturate);
}

/**
 * A move between equal floating-point types, which computes nothing: NaNs and subnormal numbers keep their bits. Only
 * the modifier changes the pattern.
 */
function sameBits({ expr, type, modifier }: ModifiedSource): Expr {
  const bits = patternOf(expr);
  const sign = k.int(bits, 1n << BigInt(typeBytes(type) * 8 - 1));
  switch (modifier) {
    case "neg":
      return k.xor(bits, sign);
    case "abs":
      return k.and(bits, k.not(sign));
    case "neg-abs":
      return k.or(bits, sign);
    default:
      return bits;
  }
}

/**
 * The bit pattern of a value. Elements of the byte file are read as integers: read as floats, NaNs would lose their
 * payload.
 */
function patternOf(expr: Expr): Expr {
  const ty = integerLike(expr);
  return expr.kind === "region" || expr.kind === "indirect" ? { ...expr, ty } : k.bitcast(expr, ty);
}

export const integerLike = ({ ty }: Expr): "i32" | "i64" => (ty === "f64" || ty === "i64" ? "i64" : "i32");

/** An integer as a double: exact, or rounded once for `df`, or rounded to odd if a second rounding follows. */
function integerToFloat(value: Expr, ty: "i32" | "i64", signed: boolean, to: DataType): Expr {
  const sign = signed ? "s" : "u";
  if (ty === "i32") return k.op(`f64.from_i32_${sign}`, value);
  return to === "df" ? k.op(`f64.from_i64_${sign}_mode`, control, value) : k.op(`f64.from_i64_${sign}_odd`, value);
}
