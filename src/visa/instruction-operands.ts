import type { ExecSize, Instruction, NameOperand, Operand, RawOperand, VectorOperand } from "./tree.ts";

/** The execution size of an instruction that has none: it acts once, whatever the mask. */
export const once: ExecSize = { start: 0, end: 0, size: 1, offset: 0, noMask: true };

const missing = ({ row }: Instruction, name: string): Error => new Error(`${row.mnemonic} has no operand ${name}`);

/** Whether an optional operand is there. */
export const has = ({ operands }: Instruction, name: string): boolean => operands[name] !== undefined;

/**
 * The operand `name`, a raw one. This and the functions below throw where the row has no such operand: a bug in the
 * caller.
 */
export function rawOf(instruction: Instruction, name: string): RawOperand {
  const operand = instruction.operands[name];
  if (operand?.kind !== "raw") throw missing(instruction, name);
  return operand;
}

export function nameOf(instruction: Instruction, name: string): NameOperand {
  const operand = instruction.operands[name];
  if (operand?.kind !== "name") throw missing(instruction, name);
  return operand;
}

const vectorKinds: readonly Operand["kind"][] = ["general", "address", "indirect", "immediate", "address-of", "state"];

export function vectorOf(instruction: Instruction, name: string): VectorOperand {
  const operand = instruction.operands[name];
  if (operand === undefined || !vectorKinds.includes(operand.kind)) throw missing(instruction, name);
  return operand as VectorOperand;
}

/** The choice of an option, or its default if the text leaves it out. */
export function choiceOf(instruction: Instruction, name: string): string {
  const operand = instruction.operands[name];
  if (operand?.kind === "option") return operand.choice;
  const spec = instruction.row.operands[name];
  if (operand !== undefined || spec?.class !== "option" || spec.byDefault === undefined) {
    throw missing(instruction, name);
  }
  return spec.byDefault;
}

/** The choice of an option whose choices are numbers. */
export const numberChoiceOf = (instruction: Instruction, name: string): number => Number(choiceOf(instruction, name));
