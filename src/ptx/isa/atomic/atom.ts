import { form, instruction } from "../define.ts";
import { hinted, scopes, sharedWindows } from "../memory/access.ts";
import { atomic, atomicProblem, combined, hintProblem, operations, scalarTypes } from "./combine.ts";
import { combinationGates, hintGate, orderGates, spaceGates } from "./gates.ts";
import { halfAndVectorForms } from "./half-and-vector-forms.ts";

const sems = ["relaxed", "acquire", "release", "acq_rel"] as const;
const common = { sem: sems, scope: scopes, space: ["global", ...sharedWindows] } as const;

/** Section 9.7.13.5. */
export const atom = instruction("atom", {
  summary: "updates memory atomically and returns the old value",
  section: "9.7.13.5",
  forms: [
    form("atom{.sem}{.scope}{.space}.op{.L2::cache_hint}.type d, [a], b{, cache_policy}", {
      ...hinted,
      where: { ...common, op: operations, type: scalarTypes },
      operands: { cache_policy: "u64" },
      since: "1.1",
      target: "sm_11",
      gates: { ...spaceGates, ...combinationGates, ...orderGates(sems), ...hintGate },
      invalid: atomicProblem,
      note: "f32 addition in global memory flushes subnormal numbers; a generic address is treated as a global one",
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combined(k, m, r, s)),
    }),
    form("atom{.sem}{.scope}{.space}.cas.type d, [a], b, c", {
      where: { ...common, type: ["b16", "b32", "b64"] },
      anyOrder: true,
      since: "1.1",
      target: "sm_11",
      gates: {
        ...spaceGates,
        b64: { since: "1.2", target: "sm_12" },
        b16: { since: "6.3", target: "sm_70" },
        ...orderGates(sems),
      },
      effect: (k, { a, c }, m, ops) => atomic(m, a, ops, (r, b) => k.select(k.eq(r, b), c, r)),
    }),
    form("atom{.sem}{.scope}{.space}.cas.b128 d, [a], b, c", {
      where: common,
      anyOrder: true,
      since: "8.3",
      target: "sm_90",
      gates: { sys: { since: "8.4" } },
      effect: (k, { a }, m, ops) => {
        const same = ops
          .vector("b")
          .map((b, index) => k.eq({ kind: "old", ty: "i64", index }, b))
          .reduce((low, high) => k.op("pred.and", low, high));
        const c = ops.vector("c");
        return atomic({ ...m, type: "b128" }, a, ops, (r, _, i) => k.select(same, c[i]!, r));
      },
    }),
    form("atom{.sem}{.scope}{.space}.exch{.L2::cache_hint}.b128 d, [a], b{, cache_policy}", {
      ...hinted,
      where: common,
      operands: { cache_policy: "u64" },
      since: "8.3",
      target: "sm_90",
      gates: { sys: { since: "8.4" } },
      invalid: hintProblem,
      effect: (_, { a }, m, ops) => atomic({ ...m, type: "b128" }, a, ops, (_old, b) => b),
    }),
    ...halfAndVectorForms("atom", "d, ", sems),
  ],
});
