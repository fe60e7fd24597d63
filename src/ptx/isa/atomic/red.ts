import { form, instruction } from "../define.ts";
import { scopes, sharedWindows, windowGates } from "../memory/access.ts";
import { addF32, atomic, atomicProblem, combined, combinedHalf, hintProblem, scalarTypes } from "./combine.ts";
import {
  combinationGates,
  halfGates,
  hintGate,
  laterOrderGates,
  orderGates,
  spaceGates,
  vectorGates,
} from "./gates.ts";

const sems = ["relaxed", "release"] as const;
const place = { sem: sems, scope: scopes, space: ["global", ...sharedWindows] } as const;
const vectorPlace = { sem: sems, scope: scopes, space: ["global"] } as const;
const hint = { anyOrder: true, paired: { cache_policy: "L2::cache_hint" } } as const;
const vectorOperands = { b: "reg type[vec]", cache_policy: "b64" };

/** Section 9.7.13.6: `atom` without a result. */
export const red = instruction("red", {
  summary: "changes memory in one step",
  section: "9.7.13.6",
  forms: [
    form("red{.sem}{.scope}{.space}.op{.L2::cache_hint}.type [a], b{, cache_policy}", {
      ...hint,
      where: { ...place, op: ["and", "or", "xor", "add", "inc", "dec", "min", "max"], type: scalarTypes },
      operands: { cache_policy: "b64" },
      since: "1.2",
      target: "sm_11",
      gates: { ...spaceGates, ...combinationGates, ...orderGates(sems), ...hintGate },
      invalid: atomicProblem,
      note: "f32 addition in global memory flushes subnormal numbers; a generic address counts as global.",
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combined(k, m, r, s)),
    }),
    form("red{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type [a], b{, cache_policy}", {
      ...hint,
      where: { ...place, type: ["f16", "f16x2", "bf16", "bf16x2"] },
      operands: { b: "reg type", cache_policy: "b64" },
      since: "6.2",
      target: "sm_60",
      gates: { ...halfGates, ...windowGates, ...laterOrderGates(sems), ...hintGate },
      invalid: hintProblem,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combinedHalf(k, "add", m.type, r, s)),
    }),
    form("red{.sem}{.scope}{.space}.add{.L2::cache_hint}.vec.type [a], b{, cache_policy}", {
      ...hint,
      where: { ...vectorPlace, vec: ["v2", "v4"], type: ["f32"] },
      operands: { ...vectorOperands, b: "type[vec]" },
      ...vectorGates,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => addF32(k, m.space, r, s)),
    }),
    form("red{.sem}{.scope}{.space}.op.noftz{.L2::cache_hint}.vec.type [a], b{, cache_policy}", {
      ...hint,
      where: { ...vectorPlace, op: ["add", "min", "max"], vec: ["v2", "v4", "v8"], type: ["f16", "bf16"] },
      operands: vectorOperands,
      ...vectorGates,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combinedHalf(k, m.op, m.type, r, s)),
    }),
    form("red{.sem}{.scope}{.space}.op.noftz{.L2::cache_hint}.vec.type [a], b{, cache_policy}", {
      ...hint,
      where: { ...vectorPlace, op: ["add", "min", "max"], vec: ["v2", "v4"], type: ["f16x2", "bf16x2"] },
      operands: vectorOperands,
      ...vectorGates,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combinedHalf(k, m.op, m.type, r, s)),
    }),
  ],
});
