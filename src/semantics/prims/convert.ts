import { towardZero32, upward32 } from "../../numeric/binary32.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "../../numeric/half.ts";
import { clampToS64, clampToU64, integerToNumber, roundToEven } from "../../numeric/integer-conversion.ts";
import { prim, type PrimTable } from "../prim.ts";

const unsigned = (a: bigint): bigint => BigInt.asUintN(64, a);

/**
 * Conversions meet in binary64: it holds every number of the other formats and of 32-bit integers exactly, and a 64-bit
 * integer rounded to odd, so that the one rounding that counts is the last. f16 and bf16 are patterns in an `i32`.
 */
export const convertPrims = {
  "f64.from_f32": prim(["f32"], "f64", (a) => a),
  "f32.from_f16": prim(["i32"], "f32", (a) => f16ToNumber(a)),
  "f32.from_bf16": prim(["i32"], "f32", (a) => bf16ToNumber(a)),
  "f64.from_i32_s": prim(["i32"], "f64", (a) => a),
  "f64.from_i32_u": prim(["i32"], "f64", (a) => a >>> 0),
  "f64.from_i64_s_odd": prim(["i64"], "f64", (a) => integerToNumber(a, "odd")),
  "f64.from_i64_s_rn": prim(["i64"], "f64", (a) => Number(a)),
  "f64.from_i64_s_rz": prim(["i64"], "f64", (a) => integerToNumber(a, "rz")),
  "f64.from_i64_s_rm": prim(["i64"], "f64", (a) => integerToNumber(a, "rm")),
  "f64.from_i64_s_rp": prim(["i64"], "f64", (a) => integerToNumber(a, "rp")),
  "f64.from_i64_u_odd": prim(["i64"], "f64", (a) => integerToNumber(unsigned(a), "odd")),
  "f64.from_i64_u_rn": prim(["i64"], "f64", (a) => Number(unsigned(a))),
  "f64.from_i64_u_rz": prim(["i64"], "f64", (a) => integerToNumber(unsigned(a), "rz")),
  "f64.from_i64_u_rm": prim(["i64"], "f64", (a) => integerToNumber(unsigned(a), "rm")),
  "f64.from_i64_u_rp": prim(["i64"], "f64", (a) => integerToNumber(unsigned(a), "rp")),

  "f32.from_f64_rn": prim(["f64"], "f32", (a) => Math.fround(a)),
  "f32.from_f64_rz": prim(["f64"], "f32", (a) => towardZero32(a)),
  "f32.from_f64_rm": prim(["f64"], "f32", (a) => -upward32(-a)),
  "f32.from_f64_rp": prim(["f64"], "f32", (a) => upward32(a)),
  "i32.f16_from_f64_rn": prim(["f64"], "i32", (a) => numberToF16(a, "rn")),
  "i32.f16_from_f64_rz": prim(["f64"], "i32", (a) => numberToF16(a, "rz")),
  "i32.f16_from_f64_rm": prim(["f64"], "i32", (a) => numberToF16(a, "rm")),
  "i32.f16_from_f64_rp": prim(["f64"], "i32", (a) => numberToF16(a, "rp")),
  "i32.bf16_from_f64_rn": prim(["f64"], "i32", (a) => numberToBf16(a, "rn")),
  "i32.bf16_from_f64_rz": prim(["f64"], "i32", (a) => numberToBf16(a, "rz")),
  "i32.bf16_from_f64_rm": prim(["f64"], "i32", (a) => numberToBf16(a, "rm")),
  "i32.bf16_from_f64_rp": prim(["f64"], "i32", (a) => numberToBf16(a, "rp")),

  /** Rounding to an integral number: to nearest even, towards zero, down, up. A zero keeps its sign. */
  "f64.rni": prim(["f64"], "f64", (a) => roundToEven(a)),
  "f64.rzi": prim(["f64"], "f64", (a) => Math.trunc(a)),
  "f64.rmi": prim(["f64"], "f64", (a) => Math.floor(a)),
  "f64.rpi": prim(["f64"], "f64", (a) => Math.ceil(a)),
  /** Rounded towards zero and limited to the range of the integer type. NaN gives 0. */
  "i32.s8_from_f64": prim(["f64"], "i32", (a) => (a > 0x7f ? 0x7f : a < -0x80 ? -0x80 : a | 0)),
  "i32.s16_from_f64": prim(["f64"], "i32", (a) => (a > 0x7fff ? 0x7fff : a < -0x8000 ? -0x8000 : a | 0)),
  "i32.s32_from_f64": prim(["f64"], "i32", (a) =>
    a > 0x7fff_ffff ? 0x7fff_ffff : a < -0x8000_0000 ? -0x8000_0000 : a | 0,
  ),
  "i32.u8_from_f64": prim(["f64"], "i32", (a) => (a > 0xff ? 0xff : a < 0 ? 0 : a | 0)),
  "i32.u16_from_f64": prim(["f64"], "i32", (a) => (a > 0xffff ? 0xffff : a < 0 ? 0 : a | 0)),
  "i32.u32_from_f64": prim(["f64"], "i32", (a) => (a > 0xffff_ffff ? -1 : a < 0 ? 0 : a | 0)),
  "i64.s64_from_f64": prim(["f64"], "i64", (a) => clampToS64(a)),
  "i64.u64_from_f64": prim(["f64"], "i64", (a) => clampToU64(a)),

  /** `.sat`: to [+0, 1]; NaN and -0 give +0. */
  "f64.saturate": prim(["f64"], "f64", (a) => (a > 0 ? Math.min(a, 1) : 0)),
  /** `.relu`: what is negative, -0 too, gives +0; NaN stays. */
  "f64.relu": prim(["f64"], "f64", (a) => Math.max(a, 0)),
  /** `.satfinite`: to the range [-limit, limit]; NaN stays. */
  "f64.limit": prim(["f64", "f64"], "f64", (a, limit) => Math.max(Math.min(a, limit), -limit)),
  /** `.ftz` for the f16 pattern in the low half: a subnormal number gives the zero of its sign. The high half becomes 0. */
  "i32.flush_f16": prim(["i32"], "i32", (a) => a & ((a & 0x7c00) === 0 ? 0x8000 : 0xffff)),
} as const satisfies PrimTable;
