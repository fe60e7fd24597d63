import { form, instruction } from "../define.ts";
import { masks, patternOf } from "./float-type.ts";

/** Section 9.7.3.1. */
export const testp = instruction("testp", {
  summary: "tests a property of a floating-point number",
  section: "9.7.3.1",
  forms: [
    form("testp.op.type p, a", {
      where: {
        op: ["finite", "infinite", "number", "notanumber", "normal", "subnormal"],
        type: ["f32", "f64"],
      },
      operands: { p: "pred" },
      since: "2.0",
      target: "sm_20",
      sem: (k, { a }, { op }) => {
        const pattern = patternOf(k, a);
        const { magnitude, infinity, minNormal } = masks(k, pattern);
        const m = k.and(pattern, magnitude);
        const one = k.int(m, 1);
        // Zeros count as normal. Subtracting 1 wraps them to the largest number, above all subnormal ones.
        const subnormal = () => k.lt(k.sub(m, one), k.sub(minNormal, one), false);
        switch (op) {
          case "finite":
            return k.lt(m, infinity, false);
          case "infinite":
            return k.eq(m, infinity);
          case "number":
            return k.le(m, infinity, false);
          case "notanumber":
            return k.lt(infinity, m, false);
          case "normal":
            return k.and(k.lt(m, infinity, false), k.not(subnormal()));
          case "subnormal":
            return subnormal();
        }
      },
    }),
  ],
});
