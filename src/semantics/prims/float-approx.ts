import { reciprocalApprox64, reciprocalRootApprox64 } from "../../numeric/approx64.ts";
import { cosine, exp2, log2, power, sigmoid, sine, tanh } from "../../numeric/elementary.ts";
import { emitReciprocal64, emitReciprocalRoot64 } from "./approx64-wasm.ts";
import { expanded, named } from "../expansion.ts";
import { onDoubles, onSingles } from "../form.ts";
import { prim } from "../prim.ts";
import {
  emitCosine,
  emitExp2,
  emitLog2,
  emitPower,
  emitReciprocalRoot,
  emitSigmoid,
  emitSine,
  emitTanh,
} from "./elementary-wasm.ts";

/** The reciprocal of any larger number is subnormal. */
const MAX_WITH_NORMAL_RECIPROCAL = 8.507059173023462e37;

const emitDivide = onSingles((s, a, b) => {
  const zero = s.fromBits(s.and(s.bits(b), s.integer(0x8000_0000n)));
  const tooGreat = s.gt(s.abs(b), s.number(MAX_WITH_NORMAL_RECIPROCAL));
  return s.select(tooGreat, s.mul(a, zero), s.div(a, b));
});
const emitRoot64 = onDoubles((d, a) => d.div(d.number(1), d.sqrt(a)));

/**
 * The approximate operations. Hardware returns some value within the bounds that the manual gives; these return the
 * value nearest to the exact result, which is within them too. Where the manual's tables of special cases deviate from
 * the exact result, the tables are followed.
 */
export const floatApproxPrims = named({
  /** `a * (1/b)` with the reciprocal of |b| > 2^126 flushed to zero (9.7.3.8). */
  "f32.div_approx": prim(
    ["f32", "f32"],
    "f32",
    (a, b) => (Math.abs(b) > MAX_WITH_NORMAL_RECIPROCAL ? (b > 0 ? a * 0 : a * -0) : Math.fround(a / b)),
    emitDivide,
  ),
  "f32.rsqrt": expanded(["f32"], "f32", (a) => Math.fround(1 / Math.sqrt(a)), emitReciprocalRoot),
  "f32.sin": expanded(["f32"], "f32", (a) => Math.fround(sine(a)), emitSine),
  "f32.cos": expanded(["f32"], "f32", (a) => Math.fround(cosine(a)), emitCosine),
  "f32.lg2": expanded(["f32"], "f32", (a) => Math.fround(log2(a)), emitLog2),
  "f32.ex2": expanded(["f32"], "f32", (a) => Math.fround(exp2(a)), emitExp2),
  "f32.tanh": expanded(["f32"], "f32", (a) => Math.fround(tanh(a)), emitTanh),
  "f32.sigmoid": expanded(["f32"], "f32", (a) => Math.fround(sigmoid(a)), emitSigmoid),
  /** |a|^b. */
  "f32.pow": expanded(["f32", "f32"], "f32", (a, b) => Math.fround(power(Math.abs(a), b)), emitPower),
  "f64.rsqrt": prim(["f64"], "f64", (a) => 1 / Math.sqrt(a), emitRoot64),
  /**
   * These operate on patterns: the NaN result has an encoding of its own, and the low word of the operand is ignored.
   */
  "i64.rcp_approx_ftz_f64": prim(["i64"], "i64", reciprocalApprox64, emitReciprocal64),
  "i64.rsqrt_approx_ftz_f64": prim(["i64"], "i64", reciprocalRootApprox64, emitReciprocalRoot64),
});
