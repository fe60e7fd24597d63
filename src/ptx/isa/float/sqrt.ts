import { form, instruction } from "../define.ts";
import { directedGates, flushed, flushNote, rounded, roundingChoice, upperWordNote } from "./float-type.ts";

/** Section 9.7.3.15. */
export const sqrt = instruction("sqrt", {
  summary: "computes the square root",
  section: "9.7.3.15",
  forms: [
    form("sqrt.f32 d, a", {
      since: "1.0",
      until: "1.4",
      note: "means sqrt.approx.ftz.f32",
      sem: (k, { a }) => flushed(k, true, [a], (x) => rounded(k, "sqrt", "rn", x!)),
    }),
    form("sqrt.approx{.ftz}.f32 d, a", {
      since: "1.4",
      note: flushNote,
      sem: (k, { a }, { ftz }) => flushed(k, ftz, [a], (x) => rounded(k, "sqrt", "rn", x!)),
    }),
    form("sqrt.rnd{.ftz}.f32 d, a", {
      where: roundingChoice,
      since: "2.0",
      target: "sm_20",
      sem: (k, { a }, { rnd, ftz }) => flushed(k, ftz, [a], (x) => rounded(k, "sqrt", rnd, x!)),
    }),
    form("sqrt.f64 d, a", {
      since: "1.0",
      until: "1.4",
      target: "sm_13",
      note: "means sqrt.rn.f64",
      sem: (k, { a }) => rounded(k, "sqrt", "rn", a),
    }),
    form("sqrt.rnd.f64 d, a", {
      where: roundingChoice,
      since: "1.4",
      target: "sm_13",
      gates: directedGates({ since: "2.0", target: "sm_20" }),
      sem: (k, { a }, { rnd }) => rounded(k, "sqrt", rnd, a),
    }),
  ],
});

/** Sections 9.7.3.16 and 9.7.3.17. */
export const rsqrt = instruction("rsqrt", {
  summary: "computes the reciprocal of the square root",
  section: "9.7.3.16",
  forms: [
    form("rsqrt.f32 d, a", {
      since: "1.0",
      until: "1.4",
      note: "means rsqrt.approx.ftz.f32",
      sem: (k, { a }) => flushed(k, true, [a], (x) => k.op("f32.rsqrt", x!)),
    }),
    form("rsqrt.approx{.ftz}.f32 d, a", {
      since: "1.4",
      note: flushNote,
      sem: (k, { a }, { ftz }) => flushed(k, ftz, [a], (x) => k.op("f32.rsqrt", x!)),
    }),
    form("rsqrt.f64 d, a", {
      since: "1.0",
      until: "1.4",
      target: "sm_13",
      note: "means rsqrt.approx.f64",
      sem: (k, { a }) => k.op("f64.rsqrt", a),
    }),
    form("rsqrt.approx.f64 d, a", { since: "1.4", target: "sm_13", sem: (k, { a }) => k.op("f64.rsqrt", a) }),
    form("rsqrt.approx.ftz.f64 d, a", {
      since: "4.0",
      target: "sm_20",
      note: upperWordNote,
      sem: (k, { a }) => k.op("i64.rsqrt_approx_ftz_f64", k.bitcast(a, "i64")),
    }),
  ],
});
