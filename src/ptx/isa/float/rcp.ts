import { form, instruction } from "../define.ts";
import { directedGates, flushed, flushNote, rounded, roundingChoice, upperWordNote } from "./float-type.ts";

/** Sections 9.7.3.13 and 9.7.3.14. */
export const rcp = instruction("rcp", {
  summary: "computes the reciprocal",
  section: "9.7.3.13",
  forms: [
    form("rcp.f32 d, a", {
      since: "1.0",
      until: "1.4",
      note: "means rcp.approx.ftz.f32",
      sem: (k, { a }) => flushed(k, true, [a], (x) => rounded(k, "div", "rn", k.f32(1), x!)),
    }),
    form("rcp.approx{.ftz}.f32 d, a", {
      since: "1.4",
      note: flushNote,
      sem: (k, { a }, { ftz }) => flushed(k, ftz, [a], (x) => rounded(k, "div", "rn", k.f32(1), x!)),
    }),
    form("rcp.rnd{.ftz}.f32 d, a", {
      where: roundingChoice,
      since: "2.0",
      target: "sm_20",
      sem: (k, { a }, { rnd, ftz }) => flushed(k, ftz, [a], (x) => rounded(k, "div", rnd, k.f32(1), x!)),
    }),
    form("rcp.f64 d, a", {
      since: "1.0",
      until: "1.4",
      target: "sm_13",
      note: "means rcp.rn.f64",
      sem: (k, { a }) => rounded(k, "div", "rn", k.f64(1), a),
    }),
    form("rcp.rnd.f64 d, a", {
      where: roundingChoice,
      since: "1.4",
      target: "sm_13",
      gates: directedGates({ since: "2.0", target: "sm_20" }),
      sem: (k, { a }, { rnd }) => rounded(k, "div", rnd, k.f64(1), a),
    }),
    form("rcp.approx.ftz.f64 d, a", {
      since: "2.1",
      target: "sm_20",
      note: upperWordNote,
      sem: (k, { a }) => k.op("i64.rcp_approx_ftz_f64", k.bitcast(a, "i64")),
    }),
  ],
});
