import { form, instruction } from "../define.ts";

/** Section 9.7.1.1. Example row; see CONTRIBUTING.md. */
export const add = instruction("add", {
  summary: "adds two values",
  section: "9.7.1.1",
  forms: [
    form("add.type d, a, b", {
      where: { type: ["u16", "u32", "u64", "s16", "s32", "s64", "u16x2", "s16x2"] },
      since: "1.0",
      gates: { u16x2: { since: "8.0", target: "sm_90" }, s16x2: { since: "8.0", target: "sm_90" } },
      sem: (k, { a, b }, { type }) =>
        type === "u16x2" || type === "s16x2"
          ? k.or(
              k.and(k.add(a, b), k.i32(0xffff)),
              k.shl(k.add(k.shr(a, k.i32(16), false), k.shr(b, k.i32(16), false)), k.i32(16)),
            )
          : k.add(a, b),
    }),
  ],
});
