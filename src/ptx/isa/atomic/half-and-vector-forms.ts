import { type Form, form } from "../define.ts";
import { hinted, scopes, sharedWindows, windowGates } from "../memory/access.ts";
import { type AtomicOrder, addF32, atomic, combinedHalf, hintProblem } from "./combine.ts";
import { halfGates, hintGate, laterOrderGates, vectorGates } from "./gates.ts";

/**
 * The forms of `atom` and `red` (9.7.13.5, 9.7.13.6) on half-precision numbers and vectors, which differ only in the
 * destination and the memory orders.
 */
export function halfAndVectorForms(
  name: "atom" | "red",
  destination: "d, " | "",
  sems: readonly AtomicOrder[],
): readonly Form[] {
  const half = { sem: sems, scope: scopes, space: ["global", ...sharedWindows] } as const;
  const vector = { sem: sems, scope: scopes, space: ["global"] } as const;
  const operands = { ...(destination && { d: "type[vec]" }), b: "reg type[vec]", cache_policy: "u64" };
  const ofHalves = (
    vec: readonly ["v2", "v4", "v8"] | readonly ["v2", "v4"],
    types: readonly ["f16", "bf16"] | readonly ["f16x2", "bf16x2"],
  ) =>
    form(`${name}{.sem}{.scope}{.space}.op.noftz{.L2::cache_hint}.vec.type ${destination}[a], b{, cache_policy}`, {
      ...hinted,
      where: { ...vector, op: ["add", "min", "max"], vec, type: types },
      operands,
      ...vectorGates,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combinedHalf(k, m.op, m.type, r, s)),
    });
  return [
    form(`${name}{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type ${destination}[a], b{, cache_policy}`, {
      ...hinted,
      where: { ...half, type: ["f16", "f16x2", "bf16", "bf16x2"] },
      operands: { b: "reg type", cache_policy: "u64" },
      since: "6.2",
      target: "sm_60",
      gates: { ...halfGates, ...windowGates, ...laterOrderGates(sems), ...hintGate },
      invalid: hintProblem,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => combinedHalf(k, "add", m.type, r, s)),
    }),
    form(`${name}{.sem}{.scope}{.space}.add{.L2::cache_hint}.vec.type ${destination}[a], b{, cache_policy}`, {
      ...hinted,
      where: { ...vector, vec: ["v2", "v4"], type: ["f32"] },
      operands: { ...operands, b: "type[vec]" },
      ...vectorGates,
      effect: (k, { a }, m, ops) => atomic(m, a, ops, (r, s) => addF32(k, m.space, r, s)),
    }),
    ofHalves(["v2", "v4", "v8"], ["f16", "bf16"]),
    ofHalves(["v2", "v4"], ["f16x2", "bf16x2"]),
  ];
}
