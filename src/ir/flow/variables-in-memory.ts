import type { IrFunction } from "../module.ts";
import { readsOf } from "./accesses.ts";

/** The variables of a function's frame that lie in memory. */
export function variablesInMemory({ params, returns, instructions, frame }: IrFunction): ReadonlySet<number> {
  const found = new Set<number>();
  if (frame.length === 0) return found;
  const add = (variable: number) => found.add(variable);
  for (const { storage } of [...params, ...returns]) if (storage.kind === "frame") add(storage.variable);
  for (const instruction of instructions) {
    readsOf(instruction, { frame: (leaf) => add(leaf.variable), variable: add });
    if (instruction.op.kind !== "call") continue;
    for (const result of instruction.op.results) if (result.kind === "frame") add(result.variable);
  }
  return found;
}
