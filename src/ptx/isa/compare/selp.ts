import { form, instruction } from "../define.ts";
import { choose } from "./choose.ts";
import { valueGates, valueTypes } from "./value-types.ts";

/** Section 9.7.6.3. */
export const selp = instruction("selp", {
  summary: "selects one of two values by a predicate",
  section: "9.7.6.3",
  forms: [
    form("selp.type d, a, b, {!}c", {
      where: { type: valueTypes },
      since: "1.0",
      gates: valueGates,
      operands: { c: "pred" },
      sem: (k, { a, b, c }) => choose(k, c, a, b),
    }),
  ],
});
