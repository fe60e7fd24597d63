import { reciprocalApprox64, reciprocalRootApprox64 } from "../../numeric/approx64.ts";
import { cosine, exp2, log2, power, sigmoid, sine, tanh } from "../../numeric/elementary.ts";
import { prim, type PrimTable } from "../prim.ts";

/** Above it the reciprocal is subnormal. */
const GREATEST_WITH_NORMAL_RECIPROCAL = 8.507059173023462e37;

/**
 * The approximate operations. Hardware gives some value within the manual's bounds; this is the value nearest to the exact one,
 * which is within them too. Where the manual's tables of special cases differ from the exact value, they are followed.
 */
export const floatApproxPrims = {
  /** `a * (1/b)` with the reciprocal of |b| > 2^126 flushed to zero (9.7.3.8). */
  "f32.div_approx": prim(["f32", "f32"], "f32", (a, b) =>
    Math.abs(b) > GREATEST_WITH_NORMAL_RECIPROCAL ? (b > 0 ? a * 0 : a * -0) : Math.fround(a / b),
  ),
  "f32.rsqrt": prim(["f32"], "f32", (a) => Math.fround(1 / Math.sqrt(a))),
  "f32.sin": prim(["f32"], "f32", (a) => Math.fround(sine(a))),
  "f32.cos": prim(["f32"], "f32", (a) => Math.fround(cosine(a))),
  "f32.lg2": prim(["f32"], "f32", (a) => Math.fround(log2(a))),
  "f32.ex2": prim(["f32"], "f32", (a) => Math.fround(exp2(a))),
  "f32.tanh": prim(["f32"], "f32", (a) => Math.fround(tanh(a))),
  "f32.sigmoid": prim(["f32"], "f32", (a) => Math.fround(sigmoid(a))),
  /** |a|^b. */
  "f32.pow": prim(["f32", "f32"], "f32", (a, b) => Math.fround(power(Math.abs(a), b))),
  "f64.rsqrt": prim(["f64"], "f64", (a) => 1 / Math.sqrt(a)),
  /** On patterns: the result's NaN has its own encoding, and the low word of the operand does not count. */
  "i64.rcp_approx_ftz_f64": prim(["i64"], "i64", reciprocalApprox64),
  "i64.rsqrt_approx_ftz_f64": prim(["i64"], "i64", reciprocalRootApprox64),
} as const satisfies PrimTable;
