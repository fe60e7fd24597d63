import { towardZero32, upward32 } from "../../numeric/binary32.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "../../numeric/half.ts";
import { clampToS64, clampToU64, integerToNumber, roundToEven } from "../../numeric/integer-conversion.ts";
import { onSingles } from "../form.ts";
import { asOps, prim, type PrimTable } from "../prim.ts";
import * as emit from "./convert-wasm.ts";
import { saturate } from "./float-wasm.ts";
import { bf16, decoded, f16, toShort } from "./short-float-wasm.ts";

const unsigned = (a: bigint): bigint => BigInt.asUintN(64, a);

/**
 * Conversions go through binary64: it holds every number of the other formats and every 32-bit integer exactly, and a
 * 64-bit integer rounded to odd, so that the last rounding is the only one that counts. f16 and bf16 are patterns in an
 * `i32`.
 */
export const convertPrims = {
  "f64.from_f32": prim(["f32"], "f64", (a) => a, emit.fromF32),
  "f32.from_f16": prim(
    ["i32"],
    "f32",
    (a) => f16ToNumber(a),
    onSingles((s, a) => decoded(s, a, f16)),
  ),
  "f32.from_bf16": prim(
    ["i32"],
    "f32",
    (a) => bf16ToNumber(a),
    onSingles((s, a) => decoded(s, a, bf16)),
  ),
  "f64.from_i32_s": prim(["i32"], "f64", (a) => a, emit.fromI32.s),
  "f64.from_i32_u": prim(["i32"], "f64", (a) => a >>> 0, emit.fromI32.u),
  "f64.from_i64_s_odd": prim(["i64"], "f64", (a) => integerToNumber(a, "odd"), emit.fromI64("s", "odd")),
  "f64.from_i64_s_rn": prim(["i64"], "f64", (a) => Number(a), emit.fromI64("s", "rn")),
  "f64.from_i64_s_rz": prim(["i64"], "f64", (a) => integerToNumber(a, "rz"), emit.fromI64("s", "rz")),
  "f64.from_i64_s_rm": prim(["i64"], "f64", (a) => integerToNumber(a, "rm"), emit.fromI64("s", "rm")),
  "f64.from_i64_s_rp": prim(["i64"], "f64", (a) => integerToNumber(a, "rp"), emit.fromI64("s", "rp")),
  "f64.from_i64_u_odd": prim(["i64"], "f64", (a) => integerToNumber(unsigned(a), "odd"), emit.fromI64("u", "odd")),
  "f64.from_i64_u_rn": prim(["i64"], "f64", (a) => Number(unsigned(a)), emit.fromI64("u", "rn")),
  "f64.from_i64_u_rz": prim(["i64"], "f64", (a) => integerToNumber(unsigned(a), "rz"), emit.fromI64("u", "rz")),
  "f64.from_i64_u_rm": prim(["i64"], "f64", (a) => integerToNumber(unsigned(a), "rm"), emit.fromI64("u", "rm")),
  "f64.from_i64_u_rp": prim(["i64"], "f64", (a) => integerToNumber(unsigned(a), "rp"), emit.fromI64("u", "rp")),

  "f32.from_f64_rn": prim(["f64"], "f32", (a) => Math.fround(a), emit.toF32("rn")),
  "f32.from_f64_rz": prim(["f64"], "f32", (a) => towardZero32(a), emit.toF32("rz")),
  "f32.from_f64_rm": prim(["f64"], "f32", (a) => -upward32(-a), emit.toF32("rm")),
  "f32.from_f64_rp": prim(["f64"], "f32", (a) => upward32(a), emit.toF32("rp")),
  "i32.f16_from_f64_rn": prim(["f64"], "i32", (a) => numberToF16(a, "rn"), toShort(f16, "rn")),
  "i32.f16_from_f64_rz": prim(["f64"], "i32", (a) => numberToF16(a, "rz"), toShort(f16, "rz")),
  "i32.f16_from_f64_rm": prim(["f64"], "i32", (a) => numberToF16(a, "rm"), toShort(f16, "rm")),
  "i32.f16_from_f64_rp": prim(["f64"], "i32", (a) => numberToF16(a, "rp"), toShort(f16, "rp")),
  "i32.bf16_from_f64_rn": prim(["f64"], "i32", (a) => numberToBf16(a, "rn"), toShort(bf16, "rn")),
  "i32.bf16_from_f64_rz": prim(["f64"], "i32", (a) => numberToBf16(a, "rz"), toShort(bf16, "rz")),
  "i32.bf16_from_f64_rm": prim(["f64"], "i32", (a) => numberToBf16(a, "rm"), toShort(bf16, "rm")),
  "i32.bf16_from_f64_rp": prim(["f64"], "i32", (a) => numberToBf16(a, "rp"), toShort(bf16, "rp")),

  /** Rounds to an integral number: to nearest even, towards zero, down, up. A zero keeps its sign. */
  "f64.rni": prim(["f64"], "f64", (a) => roundToEven(a), asOps("f64.nearest", "half", "f64x2.nearest")),
  "f64.rzi": prim(["f64"], "f64", (a) => Math.trunc(a), asOps("f64.trunc", "half", "f64x2.trunc")),
  "f64.rmi": prim(["f64"], "f64", (a) => Math.floor(a), asOps("f64.floor", "half", "f64x2.floor")),
  "f64.rpi": prim(["f64"], "f64", (a) => Math.ceil(a), asOps("f64.ceil", "half", "f64x2.ceil")),
  /** Rounds towards zero and clamps to the range of the integer type. NaN gives 0. */
  "i32.s8_from_f64": prim(
    ["f64"],
    "i32",
    (a) => (a > 0x7f ? 0x7f : a < -0x80 ? -0x80 : a | 0),
    emit.toSmall("s", -0x80, 0x7f),
  ),
  "i32.s16_from_f64": prim(
    ["f64"],
    "i32",
    (a) => (a > 0x7fff ? 0x7fff : a < -0x8000 ? -0x8000 : a | 0),
    emit.toSmall("s", -0x8000, 0x7fff),
  ),
  "i32.s32_from_f64": prim(
    ["f64"],
    "i32",
    (a) => (a > 0x7fff_ffff ? 0x7fff_ffff : a < -0x8000_0000 ? -0x8000_0000 : a | 0),
    emit.toI32.s,
  ),
  "i32.u8_from_f64": prim(["f64"], "i32", (a) => (a > 0xff ? 0xff : a < 0 ? 0 : a | 0), emit.toSmall("u", 0, 0xff)),
  "i32.u16_from_f64": prim(
    ["f64"],
    "i32",
    (a) => (a > 0xffff ? 0xffff : a < 0 ? 0 : a | 0),
    emit.toSmall("u", 0, 0xffff),
  ),
  "i32.u32_from_f64": prim(["f64"], "i32", (a) => (a > 0xffff_ffff ? -1 : a < 0 ? 0 : a | 0), emit.toI32.u),
  "i64.s64_from_f64": prim(["f64"], "i64", (a) => clampToS64(a), emit.toI64("i64.trunc_sat_f64_s")),
  "i64.u64_from_f64": prim(["f64"], "i64", (a) => clampToU64(a), emit.toI64("i64.trunc_sat_f64_u")),

  /** `.sat`: clamps to [+0, 1]; NaN and -0 give +0. */
  "f64.saturate": prim(["f64"], "f64", (a) => (a > 0 ? Math.min(a, 1) : 0), saturate.f64),
  /** `.relu`: negative numbers and -0 give +0; NaN stays. */
  "f64.relu": prim(["f64"], "f64", (a) => Math.max(a, 0), emit.relu),
  /** `.satfinite`: clamps to [-limit, limit]; NaN stays. */
  "f64.limit": prim(["f64", "f64"], "f64", (a, limit) => Math.max(Math.min(a, limit), -limit), emit.limit),
  /**
   * `.ftz` for the f16 pattern in the low half: a subnormal number gives the zero of its sign. The high half becomes 0.
   */
  "i32.flush_f16": prim(["i32"], "i32", (a) => a & ((a & 0x7c00) === 0 ? 0x8000 : 0xffff), emit.flushF16),
} as const satisfies PrimTable;
