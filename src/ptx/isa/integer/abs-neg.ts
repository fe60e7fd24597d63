import { form, instruction } from "../define.ts";

const where = { type: ["s16", "s32", "s64"] } as const;

/** Section 9.7.1.10. */
export const abs = instruction("abs", {
  summary: "computes the absolute value",
  section: "9.7.1.10",
  forms: [
    form("abs.type d, a", {
      where,
      since: "1.0",
      note: "the absolute value of the smallest integer is itself",
      sem: (k, { a }) => k.abs(a),
    }),
  ],
});

/** Section 9.7.1.11. */
export const neg = instruction("neg", {
  summary: "negates a value",
  section: "9.7.1.11",
  forms: [form("neg.type d, a", { where, since: "1.0", sem: (k, { a }) => k.neg(a) })],
});
