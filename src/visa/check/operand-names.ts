import type { OperandSpec } from "../isa/row.ts";
import type { Instruction, LscAddress, Name, Operand } from "../tree.ts";

/** Operands whose name is that of something else than a variable. */
const otherNames: readonly (OperandSpec["class"] | undefined)[] = ["label", "routine", "kernel"];

/** Calls `visit` with each variable that an instruction names: its predicate, then its operands in order. */
export function eachVariableName(instruction: Instruction, visit: (name: Name) => void): void {
  if (instruction.predicate !== null) visit(instruction.predicate.name);
  for (const key in instruction.operands) {
    const operand = instruction.operands[key]!;
    const spec = instruction.row.operands[key];
    if (operand.kind !== "name" || !otherNames.includes(spec?.class)) namesOf(operand, visit);
  }
}

function namesOf(operand: Operand, visit: (name: Name) => void): void {
  switch (operand.kind) {
    case "general":
    case "address":
    case "indirect":
    case "address-of":
    case "state":
    case "raw":
      visit(operand.variable);
      return;
    case "name":
      visit(operand.name);
      return;
    case "lsc-address":
      addressNames(operand, visit);
      return;
    case "lsc-data":
      visit(operand.register.variable);
      return;
    case "list":
      for (const item of operand.items) namesOf(item, visit);
  }
}

function addressNames(operand: LscAddress, visit: (name: Name) => void): void {
  if (operand.surface !== null) namesOf(operand.surface, visit);
  for (const part of operand.base) namesOf(part.operand, visit);
}
