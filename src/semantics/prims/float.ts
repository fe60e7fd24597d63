import { addToOdd, divideToOdd, fma32, fmaToOdd, sqrtToOdd, towardZero32, upward32 } from "../../numeric/binary32.ts";
import { add64, div64, fma64, mul64, sqrt64 } from "../../numeric/binary64.ts";
import { fromPattern32, fromPattern64, pattern32, pattern64 } from "../../numeric/float-pattern.ts";
import { expanded, named } from "../expansion.ts";
import { asOps, asSelect, prim } from "../prim.ts";
import * as emit64 from "./binary64-wasm.ts";
import { binary32, canonical32, canonical64, ftz, max, min, reinterpret, saturate, sqrt32 } from "./float-wasm.ts";
import { fma32 as fusedMadd32 } from "./fma-wasm.ts";

/** The smallest normal binary32 number. */
const NORMAL = 1.1754943508222875e-38;

/**
 * binary32 and binary64 primitives. Without a suffix they round to nearest even, with `_rz` towards zero, with `_rm`
 * and `_rp` towards minus and plus infinity. Rounding down is computed as the mirror image of rounding up, so that
 * zeros get the right sign. A NaN result becomes PTX's canonical NaN when it is stored.
 */
export const floatPrims = named({
  "f32.add": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a + b), asOps("f32.add", "quad", "f32x4.add")),
  "f32.add_rz": expanded(["f32", "f32"], "f32", (a, b) => towardZero32(addToOdd(a, b)), binary32.add("rz")),
  "f32.add_rm": expanded(["f32", "f32"], "f32", (a, b) => -upward32(addToOdd(-a, -b)), binary32.add("rm")),
  "f32.add_rp": expanded(["f32", "f32"], "f32", (a, b) => upward32(addToOdd(a, b)), binary32.add("rp")),
  "f32.sub": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a - b), asOps("f32.sub", "quad", "f32x4.sub")),
  "f32.sub_rz": expanded(["f32", "f32"], "f32", (a, b) => towardZero32(addToOdd(a, -b)), binary32.sub("rz")),
  "f32.sub_rm": expanded(["f32", "f32"], "f32", (a, b) => -upward32(addToOdd(-a, b)), binary32.sub("rm")),
  "f32.sub_rp": expanded(["f32", "f32"], "f32", (a, b) => upward32(addToOdd(a, -b)), binary32.sub("rp")),
  "f32.mul": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a * b), asOps("f32.mul", "quad", "f32x4.mul")),
  "f32.mul_rz": expanded(["f32", "f32"], "f32", (a, b) => towardZero32(a * b), binary32.mul("rz")),
  "f32.mul_rm": expanded(["f32", "f32"], "f32", (a, b) => -upward32(-a * b), binary32.mul("rm")),
  "f32.mul_rp": expanded(["f32", "f32"], "f32", (a, b) => upward32(a * b), binary32.mul("rp")),
  "f32.fma": expanded(["f32", "f32", "f32"], "f32", fma32, fusedMadd32),
  "f32.fma_rz": expanded(
    ["f32", "f32", "f32"],
    "f32",
    (a, b, c) => towardZero32(fmaToOdd(a, b, c)),
    binary32.fma("rz"),
  ),
  "f32.fma_rm": expanded(["f32", "f32", "f32"], "f32", (a, b, c) => -upward32(fmaToOdd(-a, b, -c)), binary32.fma("rm")),
  "f32.fma_rp": expanded(["f32", "f32", "f32"], "f32", (a, b, c) => upward32(fmaToOdd(a, b, c)), binary32.fma("rp")),
  "f32.div": prim(["f32", "f32"], "f32", (a, b) => Math.fround(a / b), asOps("f32.div", "quad", "f32x4.div")),
  "f32.div_rz": expanded(["f32", "f32"], "f32", (a, b) => towardZero32(divideToOdd(a, b)), binary32.div("rz")),
  "f32.div_rm": expanded(["f32", "f32"], "f32", (a, b) => -upward32(divideToOdd(-a, b)), binary32.div("rm")),
  "f32.div_rp": expanded(["f32", "f32"], "f32", (a, b) => upward32(divideToOdd(a, b)), binary32.div("rp")),
  "f32.sqrt": prim(["f32"], "f32", (a) => Math.fround(Math.sqrt(a)), asOps("f32.sqrt", "quad", "f32x4.sqrt")),
  "f32.sqrt_rz": expanded(["f32"], "f32", (a) => towardZero32(sqrtToOdd(a)), sqrt32("rz")),
  // A root is never negative, so rounding down is rounding towards zero.
  "f32.sqrt_rm": expanded(["f32"], "f32", (a) => towardZero32(sqrtToOdd(a)), sqrt32("rm")),
  "f32.sqrt_rp": expanded(["f32"], "f32", (a) => upward32(sqrtToOdd(a)), sqrt32("rp")),
  "f32.neg": prim(["f32"], "f32", (a) => -a, asOps("f32.neg", "quad", "f32x4.neg")),
  "f32.abs": prim(["f32"], "f32", (a) => Math.abs(a), asOps("f32.abs", "quad", "f32x4.abs")),
  /** -0 is less than +0. If one operand is NaN, the result is the other. */
  "f32.min": prim(["f32", "f32"], "f32", (a, b) => (a !== a ? b : b !== b ? a : Math.min(a, b)), min.f32),
  "f32.max": prim(["f32", "f32"], "f32", (a, b) => (a !== a ? b : b !== b ? a : Math.max(a, b)), max.f32),
  /** -0 is less than +0. If one operand is NaN, so is the result. */
  "f32.min_nan": prim(["f32", "f32"], "f32", (a, b) => Math.min(a, b), asOps("f32.min", "quad", "f32x4.min")),
  "f32.max_nan": prim(["f32", "f32"], "f32", (a, b) => Math.max(a, b), asOps("f32.max", "quad", "f32x4.max")),
  /** Flushes a subnormal number to the zero of its sign. */
  "f32.ftz": prim(["f32"], "f32", (a) => (a < NORMAL && a > -NORMAL ? a * 0 : a), ftz),
  /** Clamps to [0, 1]; NaN gives +0. */
  "f32.saturate": prim(["f32"], "f32", (a) => (a > 0 ? Math.min(a, 1) : 0), saturate.f32),

  "f64.add": prim(["f64", "f64"], "f64", (a, b) => a + b, asOps("f64.add", "half", "f64x2.add")),
  "f64.add_rz": expanded(["f64", "f64"], "f64", (a, b) => add64(a, b, "rz"), emit64.add("rz")),
  "f64.add_rm": expanded(["f64", "f64"], "f64", (a, b) => add64(a, b, "rm"), emit64.add("rm")),
  "f64.add_rp": expanded(["f64", "f64"], "f64", (a, b) => add64(a, b, "rp"), emit64.add("rp")),
  "f64.sub": prim(["f64", "f64"], "f64", (a, b) => a - b, asOps("f64.sub", "half", "f64x2.sub")),
  "f64.sub_rz": expanded(["f64", "f64"], "f64", (a, b) => add64(a, -b, "rz"), emit64.sub("rz")),
  "f64.sub_rm": expanded(["f64", "f64"], "f64", (a, b) => add64(a, -b, "rm"), emit64.sub("rm")),
  "f64.sub_rp": expanded(["f64", "f64"], "f64", (a, b) => add64(a, -b, "rp"), emit64.sub("rp")),
  "f64.mul": prim(["f64", "f64"], "f64", (a, b) => a * b, asOps("f64.mul", "half", "f64x2.mul")),
  "f64.mul_rz": expanded(["f64", "f64"], "f64", (a, b) => mul64(a, b, "rz"), emit64.mul("rz")),
  "f64.mul_rm": expanded(["f64", "f64"], "f64", (a, b) => mul64(a, b, "rm"), emit64.mul("rm")),
  "f64.mul_rp": expanded(["f64", "f64"], "f64", (a, b) => mul64(a, b, "rp"), emit64.mul("rp")),
  "f64.fma": expanded(["f64", "f64", "f64"], "f64", (a, b, c) => fma64(a, b, c, "rn"), emit64.fma("rn")),
  "f64.fma_rz": expanded(["f64", "f64", "f64"], "f64", (a, b, c) => fma64(a, b, c, "rz"), emit64.fma("rz")),
  "f64.fma_rm": expanded(["f64", "f64", "f64"], "f64", (a, b, c) => fma64(a, b, c, "rm"), emit64.fma("rm")),
  "f64.fma_rp": expanded(["f64", "f64", "f64"], "f64", (a, b, c) => fma64(a, b, c, "rp"), emit64.fma("rp")),
  "f64.div": prim(["f64", "f64"], "f64", (a, b) => a / b, asOps("f64.div", "half", "f64x2.div")),
  "f64.div_rz": expanded(["f64", "f64"], "f64", (a, b) => div64(a, b, "rz"), emit64.div("rz")),
  "f64.div_rm": expanded(["f64", "f64"], "f64", (a, b) => div64(a, b, "rm"), emit64.div("rm")),
  "f64.div_rp": expanded(["f64", "f64"], "f64", (a, b) => div64(a, b, "rp"), emit64.div("rp")),
  "f64.sqrt": prim(["f64"], "f64", (a) => Math.sqrt(a), asOps("f64.sqrt", "half", "f64x2.sqrt")),
  "f64.sqrt_rz": expanded(["f64"], "f64", (a) => sqrt64(a, "rz"), emit64.sqrt("rz")),
  "f64.sqrt_rm": expanded(["f64"], "f64", (a) => sqrt64(a, "rm"), emit64.sqrt("rm")),
  "f64.sqrt_rp": expanded(["f64"], "f64", (a) => sqrt64(a, "rp"), emit64.sqrt("rp")),
  "f64.neg": prim(["f64"], "f64", (a) => -a, asOps("f64.neg", "half", "f64x2.neg")),
  "f64.abs": prim(["f64"], "f64", (a) => Math.abs(a), asOps("f64.abs", "half", "f64x2.abs")),
  "f64.min": prim(["f64", "f64"], "f64", (a, b) => (a !== a ? b : b !== b ? a : Math.min(a, b)), min.f64),
  "f64.max": prim(["f64", "f64"], "f64", (a, b) => (a !== a ? b : b !== b ? a : Math.max(a, b)), max.f64),

  "f32.select": prim(["pred", "f32", "f32"], "f32", (p, a, b) => (p ? a : b), asSelect("quad")),
  "f32.reinterpret_i32": prim(["i32"], "f32", fromPattern32, reinterpret.f32),
  "i32.reinterpret_f32": prim(["f32"], "i32", pattern32, canonical32),
  "f64.reinterpret_i64": prim(["i64"], "f64", fromPattern64, reinterpret.f64),
  "i64.reinterpret_f64": prim(["f64"], "i64", pattern64, canonical64),
});
