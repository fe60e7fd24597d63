import { fma32, fmaToOdd } from "../../numeric/binary32.ts";
import {
  add64Controlled,
  addControlled,
  controlled,
  div64Controlled,
  divControlled,
  fma64Controlled,
  fmaControlled,
  mul64Controlled,
  mulControlled,
  operand64,
  operandOf,
  radicand,
  resultOf,
  roundControlled,
  roundingOf,
  sqrt64Controlled,
  sqrtControlled,
} from "../../numeric/float-control.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "../../numeric/half.ts";
import { integerToNumber } from "../../numeric/integer-conversion.ts";
import { prim, type PrimTable } from "../prim.ts";

const { f32, f16, bf16 } = controlled;

/** Rounding to nearest, subnormal numbers kept, no alternative mode: what compiled kernels set at once. */
const usual32 = (control: number): boolean => (control & 0xb1) === 0x80;
const usual16 = (control: number): boolean => (control & 0x430) === 0x400;
const usualBf16 = (control: number): boolean => (control & 0xb0) === 0x80;
const usual64 = (control: number): boolean => (control & 0x70) === 0x40;

const nearest16 = (x: number): number => f16ToNumber(numberToF16(x));
const nearestBf16 = (x: number): number => bf16ToNumber(numberToBf16(x));

/**
 * Floating-point arithmetic whose modes the first operand holds, in the layout of vISA's %cr0 (`FloatControl`). `_f16` and
 * `_bf16`: of numbers of these formats, given and returned as the binary32 numbers that they are. To nearest, the result of
 * the operation on doubles is long enough to be rounded again.
 */
export const floatControlPrims = {
  "f32.add_mode": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usual32(m) ? Math.fround(a + b) : addControlled(m, f32, a, b),
  ),
  "f32.mul_mode": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usual32(m) ? Math.fround(a * b) : mulControlled(m, f32, a, b),
  ),
  "f32.fma_mode": prim(["i32", "f32", "f32", "f32"], "f32", (m, a, b, c) =>
    usual32(m) ? fma32(a, b, c) : fmaControlled(m, f32, a, b, c),
  ),
  "f32.div_mode": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usual32(m) ? Math.fround(a / b) : divControlled(m, f32, a, b),
  ),
  "f32.sqrt_mode": prim(["i32", "f32"], "f32", (m, a) =>
    usual32(m) ? Math.fround(Math.sqrt(a)) : sqrtControlled(m, f32, a),
  ),
  /** An operand, a result, and the operand of roots and logarithms, as the modes have them. */
  "f32.operand_mode": prim(["i32", "f32"], "f32", (m, a) => operandOf(m, f32, a)),
  "f32.result_mode": prim(["i32", "f32"], "f32", (m, a) => resultOf(m, f32, a)),
  "f32.radicand_mode": prim(["i32", "f32"], "f32", (m, a) => radicand(m, f32, a)),

  "f32.add_mode_f16": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usual16(m) ? nearest16(a + b) : addControlled(m, f16, a, b),
  ),
  "f32.mul_mode_f16": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usual16(m) ? nearest16(a * b) : mulControlled(m, f16, a, b),
  ),
  "f32.fma_mode_f16": prim(["i32", "f32", "f32", "f32"], "f32", (m, a, b, c) =>
    usual16(m) ? nearest16(fmaToOdd(a, b, c)) : fmaControlled(m, f16, a, b, c),
  ),
  "f32.div_mode_f16": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usual16(m) ? nearest16(a / b) : divControlled(m, f16, a, b),
  ),
  "f32.sqrt_mode_f16": prim(["i32", "f32"], "f32", (m, a) => sqrtControlled(m, f16, a)),
  "f32.operand_mode_f16": prim(["i32", "f32"], "f32", (m, a) => operandOf(m, f16, a)),

  "f32.add_mode_bf16": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usualBf16(m) ? nearestBf16(a + b) : addControlled(m, bf16, a, b),
  ),
  "f32.mul_mode_bf16": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usualBf16(m) ? nearestBf16(a * b) : mulControlled(m, bf16, a, b),
  ),
  "f32.fma_mode_bf16": prim(["i32", "f32", "f32", "f32"], "f32", (m, a, b, c) =>
    usualBf16(m) ? nearestBf16(fmaToOdd(a, b, c)) : fmaControlled(m, bf16, a, b, c),
  ),
  "f32.div_mode_bf16": prim(["i32", "f32", "f32"], "f32", (m, a, b) =>
    usualBf16(m) ? nearestBf16(a / b) : divControlled(m, bf16, a, b),
  ),
  "f32.sqrt_mode_bf16": prim(["i32", "f32"], "f32", (m, a) => sqrtControlled(m, bf16, a)),
  "f32.operand_mode_bf16": prim(["i32", "f32"], "f32", (m, a) => operandOf(m, bf16, a)),

  "f64.add_mode": prim(["i32", "f64", "f64"], "f64", (m, a, b) => (usual64(m) ? a + b : add64Controlled(m, a, b))),
  "f64.mul_mode": prim(["i32", "f64", "f64"], "f64", (m, a, b) => (usual64(m) ? a * b : mul64Controlled(m, a, b))),
  "f64.fma_mode": prim(["i32", "f64", "f64", "f64"], "f64", fma64Controlled),
  "f64.div_mode": prim(["i32", "f64", "f64"], "f64", (m, a, b) => (usual64(m) ? a / b : div64Controlled(m, a, b))),
  "f64.sqrt_mode": prim(["i32", "f64"], "f64", (m, a) => (usual64(m) ? Math.sqrt(a) : sqrt64Controlled(m, a))),
  "f64.operand_mode": prim(["i32", "f64"], "f64", operand64),

  /** Conversions to narrower formats; those of 16 bits are patterns. */
  "f32.from_f64_mode": prim(["i32", "f64"], "f32", (m, a) =>
    usual32(m) ? Math.fround(a) : roundControlled(m, f32, a),
  ),
  "i32.f16_from_f64_mode": prim(["i32", "f64"], "i32", (m, a) =>
    usual16(m) ? numberToF16(a) : numberToF16(roundControlled(m, f16, a)),
  ),
  "i32.bf16_from_f64_mode": prim(["i32", "f64"], "i32", (m, a) =>
    usualBf16(m) ? numberToBf16(a) : numberToBf16(roundControlled(m, bf16, a)),
  ),
  "f64.from_i64_s_mode": prim(["i32", "i64"], "f64", (m, a) => integerToNumber(a, roundingOf(m))),
  "f64.from_i64_u_mode": prim(["i32", "i64"], "f64", (m, a) => integerToNumber(BigInt.asUintN(64, a), roundingOf(m))),
} as const satisfies PrimTable;
