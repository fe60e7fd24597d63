import { form, instruction } from "../define.ts";
import { directedGates, flushed, flushNote, rounded, roundingChoice } from "./float-type.ts";

/** Section 9.7.3.8. */
export const div = instruction("div", {
  summary: "divides one value by another",
  section: "9.7.3.8",
  forms: [
    form("div.f32 d, a, b", {
      since: "1.0",
      until: "1.4",
      note: "means div.approx.ftz.f32",
      sem: (k, { a, b }) => flushed(k, true, [a, b], (x, y) => k.op("f32.div_approx", x!, y!)),
    }),
    form("div.approx{.ftz}.f32 d, a, b", {
      since: "1.4",
      note: flushNote,
      sem: (k, { a, b }, { ftz }) => flushed(k, ftz, [a, b], (x, y) => k.op("f32.div_approx", x!, y!)),
    }),
    form("div.full{.ftz}.f32 d, a, b", {
      since: "1.4",
      note: flushNote,
      sem: (k, { a, b }, { ftz }) => flushed(k, ftz, [a, b], (...args) => rounded(k, "div", "rn", ...args)),
    }),
    form("div.rnd{.ftz}.f32 d, a, b", {
      where: roundingChoice,
      since: "1.4",
      target: "sm_20",
      sem: (k, { a, b }, { rnd, ftz }) => flushed(k, ftz, [a, b], (...args) => rounded(k, "div", rnd, ...args)),
    }),
    form("div.f64 d, a, b", {
      since: "1.0",
      until: "1.4",
      target: "sm_13",
      note: "means div.rn.f64",
      sem: (k, { a, b }) => rounded(k, "div", "rn", a, b),
    }),
    form("div.rnd.f64 d, a, b", {
      where: roundingChoice,
      since: "1.4",
      target: "sm_13",
      gates: directedGates({ target: "sm_20" }),
      sem: (k, { a, b }, { rnd }) => rounded(k, "div", rnd, a, b),
    }),
  ],
});
