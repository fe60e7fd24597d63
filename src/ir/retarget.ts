import type { Instruction } from "./instruction.ts";

/** The instruction with other places in the function in the place of those to which it branches. */
export function retargeted(instruction: Instruction, to: (target: number) => number): Instruction {
  const { op } = instruction;
  if (op.kind === "branch") return { ...instruction, op: { ...op, target: to(op.target) } };
  if (op.kind !== "branch-indexed") return instruction;
  return { ...instruction, op: { ...op, targets: op.targets.map(to) } };
}
