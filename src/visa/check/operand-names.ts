import type { Instruction, LscAddress, Name, Operand } from "../tree.ts";

/** The variables that an instruction names, in the order of its operands; `write` gets each. */
export function eachVariableName(instruction: Instruction, write: (name: Name) => void): void {
  if (instruction.predicate !== null) write(instruction.predicate.name);
  for (const [key, operand] of Object.entries(instruction.operands)) {
    const spec = instruction.row.operands[key];
    if (operand.kind !== "name" || (spec?.class !== "label" && spec?.class !== "routine")) namesOf(operand, write);
  }
}

function namesOf(operand: Operand, write: (name: Name) => void): void {
  switch (operand.kind) {
    case "general":
    case "address":
    case "indirect":
    case "address-of":
    case "state":
    case "raw":
      write(operand.variable);
      return;
    case "name":
      write(operand.name);
      return;
    case "lsc-address":
      addressNames(operand, write);
      return;
    case "lsc-data":
      write(operand.register.variable);
      return;
    case "list":
      for (const item of operand.items) namesOf(item, write);
  }
}

function addressNames(operand: LscAddress, write: (name: Name) => void): void {
  if (operand.surface !== null) namesOf(operand.surface, write);
  for (const part of operand.base) namesOf(part.operand, write);
}
