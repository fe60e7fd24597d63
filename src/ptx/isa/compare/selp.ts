import { form, instruction } from "../define.ts";
import { choose } from "./choose.ts";

/** Section 9.7.6.3. */
export const selp = instruction("selp", {
  summary: "selects one of two values by a predicate",
  section: "9.7.6.3",
  forms: [
    form("selp.type d, a, b, {!}c", {
      where: { type: ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"] },
      since: "1.0",
      gates: { f64: { target: "sm_13" } },
      operands: { c: "pred" },
      sem: (k, { a, b, c }) => choose(k, c, a, b),
    }),
  ],
});
