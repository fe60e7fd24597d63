import { form, instruction } from "../define.ts";
import { addWithCarry, subWithCarry } from "./with-carry.ts";

const where = { type: ["u32", "s32", "u64", "s64"] } as const;
const wide = { since: "4.3", target: "sm_20" } as const;
const gates = { u64: wide, s64: wide };

const note =
  "CC.CF is the complement of the borrow, as on NVIDIA hardware: only `addc` or `madc` after `sub.cc` can tell";

/** Section 9.7.2.1. */
export const addCC = instruction("add.cc", {
  summary: "adds two values and writes the carry",
  section: "9.7.2.1",
  forms: [
    form("add.cc.type d, a, b", { where, since: "1.2", gates, sem: (k, { a, b }) => addWithCarry(k, a, b, null) }),
  ],
});

/** Section 9.7.2.2. */
export const addc = instruction("addc", {
  summary: "adds two values and the carry",
  section: "9.7.2.2",
  forms: [
    form("addc{.cc}.type d, a, b", {
      where,
      since: "1.2",
      gates,
      sem: (k, { a, b }, { cc }, ops) => {
        const { d, carry } = addWithCarry(k, a, b, ops.carry);
        return cc ? { d, carry } : d;
      },
    }),
  ],
});

/** Section 9.7.2.3. */
export const subCC = instruction("sub.cc", {
  summary: "subtracts two values and writes the borrow",
  section: "9.7.2.3",
  forms: [
    form("sub.cc.type d, a, b", {
      where,
      since: "1.2",
      gates,
      note,
      sem: (k, { a, b }) => subWithCarry(k, a, b, null),
    }),
  ],
});

/** Section 9.7.2.4. */
export const subc = instruction("subc", {
  summary: "subtracts a value and the borrow from another",
  section: "9.7.2.4",
  forms: [
    form("subc{.cc}.type d, a, b", {
      where,
      since: "1.2",
      gates,
      note,
      sem: (k, { a, b }, { cc }, ops) => {
        const { d, carry } = subWithCarry(k, a, b, ops.carry);
        return cc ? { d, carry } : d;
      },
    }),
  ],
});
