import { form, instruction } from "../define.ts";
import { isPacked, perHalf } from "./integer-type.ts";

/** Section 9.7.1.1. */
export const add = instruction("add", {
  summary: "adds two values",
  section: "9.7.1.1",
  forms: [
    form("add.type d, a, b", {
      where: { type: ["u16", "u32", "u64", "s16", "s32", "s64", "u16x2", "s16x2"] },
      since: "1.0",
      gates: { u16x2: { since: "8.0", target: "sm_90" }, s16x2: { since: "8.0", target: "sm_90" } },
      sem: (k, { a, b }, { type }) => (isPacked(type) ? perHalf(k, type, [a, b], k.add) : k.add(a, b)),
    }),
    form("add.sat.s32 d, a, b", {
      since: "1.0",
      sem: (k, { a, b }) => k.addSat(a, b),
    }),
  ],
});

/** Section 9.7.1.2. */
export const sub = instruction("sub", {
  summary: "subtracts one value from another",
  section: "9.7.1.2",
  forms: [
    form("sub.type d, a, b", {
      where: { type: ["u16", "u32", "u64", "s16", "s32", "s64"] },
      since: "1.0",
      sem: (k, { a, b }) => k.sub(a, b),
    }),
    form("sub.sat.s32 d, a, b", {
      since: "1.0",
      sem: (k, { a, b }) => k.subSat(a, b),
    }),
  ],
});
