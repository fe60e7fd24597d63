import { form, instruction } from "../define.ts";
import { hinted, scopes, sharedWindows } from "../memory/access.ts";
import { atomic, atomicProblem, combined, scalarTypes } from "./combine.ts";
import { combinationGates, hintGate, orderGates, spaceGates } from "./gates.ts";
import { halfAndVectorForms } from "./half-and-vector-forms.ts";

const sems = ["relaxed", "release"] as const;
const common = { sem: sems, scope: scopes, space: ["global", ...sharedWindows] } as const;

/** Section 9.7.13.6: `atom` without a result. */
export const red = instruction("red", {
  summary: "updates memory atomically",
  section: "9.7.13.6",
  forms: [
    form("red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type [a], b{, cache_policy}", {
      ...hinted,
      where: { ...common, op: ["and", "or", "xor", "add", "inc", "dec", "min", "max"], type: scalarTypes },
      operands: { cache_policy: "u64" },
      since: "1.2",
      target: "sm_11",
      gates: { ...spaceGates, ...combinationGates, ...orderGates(sems), ...hintGate },
      invalid: atomicProblem,
      note: "f32 addition in global memory flushes subnormal numbers; a generic address is treated as a global one",
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combined(k, m, r, s)),
    }),
    ...halfAndVectorForms("red", "", sems),
  ],
});
