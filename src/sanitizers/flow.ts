import type { Instruction, IrFunction } from "../ir/index.ts";

/** Whether control can go from instruction `first` to `second` of a function, but not from there to `first` again. */
export const liesBehind = (ir: IrFunction, first: number, second: number): boolean =>
  reachable(ir, first)[second] === 1 && reachable(ir, second)[first] === 0;

const known = new WeakMap<IrFunction, Map<number, Uint8Array>>();

/** By instruction, whether it can be executed some time after the one at `from`. */
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
    for (const next of successors(instruction, at)) {
      if (seen[next] === 1) continue;
      seen[next] = 1;
      pending.push(next);
    }
  }
  ofFunction.set(from, seen);
  return seen;
}

function successors({ op, guard }: Instruction, at: number): readonly number[] {
  const next = guard === null ? [] : [at + 1];
  switch (op.kind) {
    case "branch":
      return [...next, op.target];
    case "branch-indexed":
      return [...next, ...op.targets];
    case "subroutine-call":
      return [at + 1, op.target];
    case "return":
    case "exit":
      return next;
    default:
      return [at + 1];
  }
}
