import { form, instruction } from "../define.ts";
import { isSigned } from "./integer-type.ts";

const where = { type: ["u16", "u32", "u64", "s16", "s32", "s64"] } as const;

/** Section 9.7.1.8. */
export const div = instruction("div", {
  summary: "divides one value by another",
  section: "9.7.1.8",
  forms: [
    form("div.type d, a, b", {
      where,
      since: "1.0",
      note: "rounds towards zero; division by zero is unspecified and returns all ones here, as on NVIDIA hardware",
      undefinedCases: { "division-by-zero": (k, { b }) => k.eq(b, k.int(b, 0)) },
      sem: (k, { a, b }, { type }) => k.div(a, b, isSigned(type)),
    }),
  ],
});

/** Section 9.7.1.9. */
export const rem = instruction("rem", {
  summary: "computes the remainder of an integer division",
  section: "9.7.1.9",
  forms: [
    form("rem.type d, a, b", {
      where,
      since: "1.0",
      note: "the remainder has the dividend's sign; division by zero is unspecified and returns all ones here, as on NVIDIA hardware",
      undefinedCases: { "division-by-zero": (k, { b }) => k.eq(b, k.int(b, 0)) },
      sem: (k, { a, b }, { type }) => k.rem(a, b, isSigned(type)),
    }),
  ],
});
