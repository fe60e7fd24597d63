import { form, instruction } from "../define.ts";
import { product } from "./product.ts";

const types = ["u16", "u32", "u64", "s16", "s32", "s64"] as const;
const narrowTypes = ["u16", "u32", "s16", "s32"] as const;

/** Section 9.7.1.3. */
export const mul = instruction("mul", {
  summary: "multiplies two values",
  section: "9.7.1.3",
  forms: [
    form("mul.mode.type d, a, b", {
      where: { mode: ["hi", "lo"], type: types },
      since: "1.0",
      sem: (k, { a, b }, { mode, type }) => product(k, mode, type, a, b),
    }),
    form("mul.wide.type d, a, b", {
      where: { type: narrowTypes },
      operands: { d: "wide type" },
      since: "1.0",
      sem: (k, { a, b }, { type }) => product(k, "wide", type, a, b),
    }),
  ],
});

/** Section 9.7.1.4. */
export const mad = instruction("mad", {
  summary: "multiplies two values and adds a third",
  section: "9.7.1.4",
  forms: [
    form("mad.mode.type d, a, b, c", {
      where: { mode: ["hi", "lo"], type: types },
      since: "1.0",
      sem: (k, { a, b, c }, { mode, type }) => k.add(product(k, mode, type, a, b), c),
    }),
    form("mad.wide.type d, a, b, c", {
      where: { type: narrowTypes },
      operands: { d: "wide type", c: "wide type" },
      since: "1.0",
      sem: (k, { a, b, c }, { type }) => k.add(product(k, "wide", type, a, b), c),
    }),
    form("mad.hi.sat.s32 d, a, b, c", {
      since: "1.0",
      sem: (k, { a, b, c }) => k.addSat(k.mulHigh(a, b, true), c),
    }),
  ],
});
