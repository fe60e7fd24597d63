import { form, instruction } from "../define.ts";
import { scopes, sharedWindows, windowGates } from "../memory/access.ts";
import {
  addF32,
  atomic,
  atomicProblem,
  combined,
  combinedHalf,
  hintProblem,
  operations,
  scalarTypes,
} from "./combine.ts";
import {
  combinationGates,
  halfGates,
  hintGate,
  laterOrderGates,
  orderGates,
  spaceGates,
  vectorGates,
} from "./gates.ts";

const sems = ["relaxed", "acquire", "release", "acq_rel"] as const;
const place = { sem: sems, scope: scopes, space: ["global", ...sharedWindows] } as const;
const vectorPlace = { sem: sems, scope: scopes, space: ["global"] } as const;
const hint = { anyOrder: true, paired: { cache_policy: "L2::cache_hint" } } as const;
const vectorOperands = { d: "type[vec]", b: "reg type[vec]", cache_policy: "b64" };

/** Section 9.7.13.5. */
export const atom = instruction("atom", {
  summary: "reads, changes and writes memory in one step, and gives what was there",
  section: "9.7.13.5",
  forms: [
    form("atom{.sem}{.scope}{.space}.op{.L2::cache_hint}.type d, [a], b{, cache_policy}", {
      ...hint,
      where: { ...place, op: operations, type: scalarTypes },
      operands: { cache_policy: "b64" },
      since: "1.1",
      target: "sm_11",
      gates: { ...spaceGates, ...combinationGates, ...orderGates(sems), ...hintGate },
      invalid: atomicProblem,
      note: "f32 addition in global memory flushes subnormal numbers; a generic address counts as global.",
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combined(k, m, r, s)),
    }),
    form("atom{.sem}{.scope}{.space}.cas.type d, [a], b, c", {
      where: { ...place, type: ["b16", "b32", "b64"] },
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
      where: place,
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
      ...hint,
      where: place,
      operands: { cache_policy: "b64" },
      since: "8.3",
      target: "sm_90",
      gates: { sys: { since: "8.4" } },
      invalid: hintProblem,
      effect: (_, { a }, m, ops) => atomic({ ...m, type: "b128" }, a, ops, (_old, b) => b),
    }),
    form("atom{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type d, [a], b{, cache_policy}", {
      ...hint,
      where: { ...place, type: ["f16", "f16x2", "bf16", "bf16x2"] },
      operands: { b: "reg type", cache_policy: "b64" },
      since: "6.2",
      target: "sm_60",
      gates: { ...halfGates, ...windowGates, ...laterOrderGates(sems), ...hintGate },
      invalid: hintProblem,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combinedHalf(k, "add", m.type, r, s)),
    }),
    form("atom{.sem}{.scope}{.space}.add{.L2::cache_hint}.vec.type d, [a], b{, cache_policy}", {
      ...hint,
      where: { ...vectorPlace, vec: ["v2", "v4"], type: ["f32"] },
      operands: { ...vectorOperands, b: "type[vec]" },
      ...vectorGates,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => addF32(k, m.space, r, s)),
    }),
    form("atom{.sem}{.scope}{.space}.op.noftz{.L2::cache_hint}.vec.type d, [a], b{, cache_policy}", {
      ...hint,
      where: { ...vectorPlace, op: ["add", "min", "max"], vec: ["v2", "v4", "v8"], type: ["f16", "bf16"] },
      operands: vectorOperands,
      ...vectorGates,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combinedHalf(k, m.op, m.type, r, s)),
    }),
    form("atom{.sem}{.scope}{.space}.op.noftz{.L2::cache_hint}.vec.type d, [a], b{, cache_policy}", {
      ...hint,
      where: { ...vectorPlace, op: ["add", "min", "max"], vec: ["v2", "v4"], type: ["f16x2", "bf16x2"] },
      operands: vectorOperands,
      ...vectorGates,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combinedHalf(k, m.op, m.type, r, s)),
    }),
  ],
});
