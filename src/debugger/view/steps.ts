import type { Instruction, IrFunction } from "../../ir/index.ts";

/** Returns the operations of the instruction of the program that an operation at an index belongs to. */
export function stepsAt({ instructions }: IrFunction, index: number): readonly Instruction[] {
  const at = instructions[index]?.span;
  return at === undefined ? [] : instructions.filter(({ span }) => span.start === at.start && span.end === at.end);
}
