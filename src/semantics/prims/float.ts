import { addToOdd, divideToOdd, fma32, fmaToOdd, sqrtToOdd, towardZero32, upward32 } from "../../numeric/binary32.ts";
import { add64, div64, fma64, mul64, sqrt64 } from "../../numeric/binary64.ts";
import { fromPattern32, fromPattern64, pattern32, pattern64 } from "../../numeric/float-pattern.ts";
import { prim, type PrimTable } from "../prim.ts";

/** The least normal binary32. */
const NORMAL = 1.1754943508222875e-38;

/**
 * binary32 and binary64 primitives. Without a suffix they round to nearest even, with `_rz` towards zero, with `_rm` and
 * `_rp` towards minus and plus infinity; downwards is the mirror image of upwards, so that the signs of zeros come out right.
 * A NaN result is written as PTX's canonical NaN by whoever stores it.
 */
export const floatPrims = {
  "f32.add": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a + b)),
  "f32.add_rz": prim(["f32", "f32"], "f32", (a, b) => towardZero32(addToOdd(a, b))),
  "f32.add_rm": prim(["f32", "f32"], "f32", (a, b) => -upward32(addToOdd(-a, -b))),
  "f32.add_rp": prim(["f32", "f32"], "f32", (a, b) => upward32(addToOdd(a, b))),
  "f32.sub": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a - b)),
  "f32.sub_rz": prim(["f32", "f32"], "f32", (a, b) => towardZero32(addToOdd(a, -b))),
  "f32.sub_rm": prim(["f32", "f32"], "f32", (a, b) => -upward32(addToOdd(-a, b))),
  "f32.sub_rp": prim(["f32", "f32"], "f32", (a, b) => upward32(addToOdd(a, -b))),
  "f32.mul": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a * b)),
  "f32.mul_rz": prim(["f32", "f32"], "f32", (a, b) => towardZero32(a * b)),
  "f32.mul_rm": prim(["f32", "f32"], "f32", (a, b) => -upward32(-a * b)),
  "f32.mul_rp": prim(["f32", "f32"], "f32", (a, b) => upward32(a * b)),
  "f32.fma": prim(["f32", "f32", "f32"], "f32", fma32),
  "f32.fma_rz": prim(["f32", "f32", "f32"], "f32", (a, b, c) => towardZero32(fmaToOdd(a, b, c))),
  "f32.fma_rm": prim(["f32", "f32", "f32"], "f32", (a, b, c) => -upward32(fmaToOdd(-a, b, -c))),
  "f32.fma_rp": prim(["f32", "f32", "f32"], "f32", (a, b, c) => upward32(fmaToOdd(a, b, c))),
  "f32.div": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a / b)),
  "f32.div_rz": prim(["f32", "f32"], "f32", (a, b) => towardZero32(divideToOdd(a, b))),
  "f32.div_rm": prim(["f32", "f32"], "f32", (a, b) => -upward32(divideToOdd(-a, b))),
  "f32.div_rp": prim(["f32", "f32"], "f32", (a, b) => upward32(divideToOdd(a, b))),
  "f32.sqrt": prim(["f32"], "f32", (a) => Math.fround(Math.sqrt(a))),
  "f32.sqrt_rz": prim(["f32"], "f32", (a) => towardZero32(sqrtToOdd(a))),
  // A root is not negative: downwards is towards zero.
  "f32.sqrt_rm": prim(["f32"], "f32", (a) => towardZero32(sqrtToOdd(a))),
  "f32.sqrt_rp": prim(["f32"], "f32", (a) => upward32(sqrtToOdd(a))),
  "f32.neg": prim(["f32"], "f32", (a) => -a),
  "f32.abs": prim(["f32"], "f32", (a) => Math.abs(a)),
  /** -0 is less than +0. One NaN gives the other operand. */
  "f32.min": prim(["f32", "f32"], "f32", (a, b) => (a !== a ? b : b !== b ? a : Math.min(a, b))),
  "f32.max": prim(["f32", "f32"], "f32", (a, b) => (a !== a ? b : b !== b ? a : Math.max(a, b))),
  /** -0 is less than +0. One NaN gives NaN. */
  "f32.min_nan": prim(["f32", "f32"], "f32", (a, b) => Math.min(a, b)),
  "f32.max_nan": prim(["f32", "f32"], "f32", (a, b) => Math.max(a, b)),
  /** A subnormal number becomes the zero of its sign. */
  "f32.ftz": prim(["f32"], "f32", (a) => (a < NORMAL && a > -NORMAL ? a * 0 : a)),
  /** Into [0, 1]; NaN gives +0. */
  "f32.saturate": prim(["f32"], "f32", (a) => (a > 0 ? Math.min(a, 1) : 0)),

  "f64.add": prim(["f64", "f64"], "f64", (a, b) => a + b),
  "f64.add_rz": prim(["f64", "f64"], "f64", (a, b) => add64(a, b, "rz")),
  "f64.add_rm": prim(["f64", "f64"], "f64", (a, b) => add64(a, b, "rm")),
  "f64.add_rp": prim(["f64", "f64"], "f64", (a, b) => add64(a, b, "rp")),
  "f64.sub": prim(["f64", "f64"], "f64", (a, b) => a - b),
  "f64.sub_rz": prim(["f64", "f64"], "f64", (a, b) => add64(a, -b, "rz")),
  "f64.sub_rm": prim(["f64", "f64"], "f64", (a, b) => add64(a, -b, "rm")),
  "f64.sub_rp": prim(["f64", "f64"], "f64", (a, b) => add64(a, -b, "rp")),
  "f64.mul": prim(["f64", "f64"], "f64", (a, b) => a * b),
  "f64.mul_rz": prim(["f64", "f64"], "f64", (a, b) => mul64(a, b, "rz")),
  "f64.mul_rm": prim(["f64", "f64"], "f64", (a, b) => mul64(a, b, "rm")),
  "f64.mul_rp": prim(["f64", "f64"], "f64", (a, b) => mul64(a, b, "rp")),
  "f64.fma": prim(["f64", "f64", "f64"], "f64", (a, b, c) => fma64(a, b, c, "rn")),
  "f64.fma_rz": prim(["f64", "f64", "f64"], "f64", (a, b, c) => fma64(a, b, c, "rz")),
  "f64.fma_rm": prim(["f64", "f64", "f64"], "f64", (a, b, c) => fma64(a, b, c, "rm")),
  "f64.fma_rp": prim(["f64", "f64", "f64"], "f64", (a, b, c) => fma64(a, b, c, "rp")),
  "f64.div": prim(["f64", "f64"], "f64", (a, b) => a / b),
  "f64.div_rz": prim(["f64", "f64"], "f64", (a, b) => div64(a, b, "rz")),
  "f64.div_rm": prim(["f64", "f64"], "f64", (a, b) => div64(a, b, "rm")),
  "f64.div_rp": prim(["f64", "f64"], "f64", (a, b) => div64(a, b, "rp")),
  "f64.sqrt": prim(["f64"], "f64", (a) => Math.sqrt(a)),
  "f64.sqrt_rz": prim(["f64"], "f64", (a) => sqrt64(a, "rz")),
  "f64.sqrt_rm": prim(["f64"], "f64", (a) => sqrt64(a, "rm")),
  "f64.sqrt_rp": prim(["f64"], "f64", (a) => sqrt64(a, "rp")),
  "f64.neg": prim(["f64"], "f64", (a) => -a),
  "f64.abs": prim(["f64"], "f64", (a) => Math.abs(a)),
  "f64.min": prim(["f64", "f64"], "f64", (a, b) => (a !== a ? b : b !== b ? a : Math.min(a, b))),
  "f64.max": prim(["f64", "f64"], "f64", (a, b) => (a !== a ? b : b !== b ? a : Math.max(a, b))),

  "f32.select": prim(["pred", "f32", "f32"], "f32", (p, a, b) => (p ? a : b)),
  "f32.reinterpret_i32": prim(["i32"], "f32", fromPattern32),
  "i32.reinterpret_f32": prim(["f32"], "i32", pattern32),
  "f64.reinterpret_i64": prim(["i64"], "f64", fromPattern64),
  "i64.reinterpret_f64": prim(["f64"], "i64", pattern64),
} as const satisfies PrimTable;
