import { targetsOf } from "../ir/flow/flow-graph.ts";
import type { IrFunction } from "../ir/index.ts";

/** Whether control can go from instruction `first` to `second` of a function, but not from `second` back to `first`. */
export const comesAfter = (ir: IrFunction, first: number, second: number): boolean =>
  reachable(ir, first)[second] === 1 && reachable(ir, second)[first] === 0;

const known = new WeakMap<IrFunction, Map<number, Uint8Array>>();

/** By instruction, whether it can be executed after the one at `from`. */
function reachable(ir: IrFunction, from: number): Uint8Array {
  let ofFunction = known.get(ir);
  if (ofFunction === undefined) known.set(ir, (ofFunction = new Map()));
  const found = ofFunction.get(from);
  if (found !== undefined) return found;
  const seen = new Uint8Array(ir.instructions.length + 1);
  const pending = [from];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const instruction = ir.instructions[at];
    if (instruction === undefined) continue;
    for (const next of targetsOf(instruction, at + 1, ir.instructions.length)) {
      if (seen[next] === 1) continue;
      seen[next] = 1;
      pending.push(next);
    }
  }
  ofFunction.set(from, seen);
  return seen;
}
