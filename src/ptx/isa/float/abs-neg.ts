import { form, instruction } from "../define.ts";
import { flushed, flushNote, masks, patternOf } from "./float-type.ts";

/** Section 9.7.3.9. */
export const abs = instruction("abs", {
  summary: "computes the absolute value",
  section: "9.7.3.9",
  forms: [
    form("abs{.ftz}.f32 d, a", {
      since: "1.0",
      note: flushNote,
      sem: (k, { a }, { ftz }) => flushed(k, ftz, [a], (x) => k.op("f32.abs", x!)),
    }),
    form("abs.f64 d, a", {
      since: "1.0",
      target: "sm_13",
      // A NaN is returned unchanged, with its sign.
      sem: (k, { a }) => {
        const pattern = patternOf(k, a);
        const { magnitude, infinity } = masks(k, pattern);
        const m = k.and(pattern, magnitude);
        return k.select(k.lt(infinity, m, false), pattern, m);
      },
    }),
  ],
});

/** Section 9.7.3.10. */
export const neg = instruction("neg", {
  summary: "negates a value",
  section: "9.7.3.10",
  forms: [
    form("neg{.ftz}.f32 d, a", {
      since: "1.0",
      note: flushNote,
      sem: (k, { a }, { ftz }) => flushed(k, ftz, [a], (x) => k.op("f32.neg", x!)),
    }),
    form("neg.f64 d, a", { since: "1.0", target: "sm_13", sem: (k, { a }) => k.op("f64.neg", a) }),
  ],
});
