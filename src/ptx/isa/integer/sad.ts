import { form, instruction } from "../define.ts";
import { isSigned } from "./integer-type.ts";

/** Section 9.7.1.7. */
export const sad = instruction("sad", {
  summary: "adds the absolute difference of two values to a third",
  section: "9.7.1.7",
  forms: [
    form("sad.type d, a, b, c", {
      where: { type: ["u16", "u32", "u64", "s16", "s32", "s64"] },
      since: "1.0",
      sem: (k, { a, b, c }, { type }) => k.add(c, k.select(k.lt(a, b, isSigned(type)), k.sub(b, a), k.sub(a, b))),
    }),
  ],
});
