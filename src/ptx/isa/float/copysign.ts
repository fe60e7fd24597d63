import { form, instruction } from "../define.ts";
import { masks, patternOf } from "./float-type.ts";

/** Section 9.7.3.2. A NaN keeps its payload, because only bits are copied. */
export const copysign = instruction("copysign", {
  summary: "copies the sign of one value into another",
  section: "9.7.3.2",
  forms: [
    form("copysign.type d, a, b", {
      where: { type: ["f32", "f64"] },
      since: "2.0",
      target: "sm_20",
      sem: (k, { a, b }) => {
        const { sign, magnitude } = masks(k, patternOf(k, a));
        return k.or(k.and(patternOf(k, a), sign), k.and(patternOf(k, b), magnitude));
      },
    }),
  ],
});
