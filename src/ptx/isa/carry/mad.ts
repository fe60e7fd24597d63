import { form, instruction } from "../define.ts";
import { product } from "../integer/product.ts";
import { addWithCarry } from "./with-carry.ts";

const where = { mode: ["hi", "lo"], type: ["u32", "s32", "u64", "s64"] } as const;
const wide = { since: "4.3" } as const;
const gates = { u64: wide, s64: wide };

/** Section 9.7.2.5. */
export const madCC = instruction("mad.cc", {
  summary: "multiplies, adds a third value to one half of the product and writes the carry",
  section: "9.7.2.5",
  forms: [
    form("mad.mode.cc.type d, a, b, c", {
      where,
      since: "3.0",
      target: "sm_20",
      gates,
      sem: (k, { a, b, c }, { mode, type }) => addWithCarry(k, product(k, mode, type, a, b), c, null),
    }),
  ],
});

/** Section 9.7.2.6. */
export const madc = instruction("madc", {
  summary: "multiplies, adds a third value and the carry to one half of the product",
  section: "9.7.2.6",
  forms: [
    form("madc.mode{.cc}.type d, a, b, c", {
      where,
      since: "3.0",
      target: "sm_20",
      gates,
      sem: (k, { a, b, c }, { mode, cc, type }, ops) => {
        const { d, carry } = addWithCarry(k, product(k, mode, type, a, b), c, ops.carry);
        return cc ? { d, carry } : d;
      },
    }),
  ],
});
