import type { OperandSpec } from "../isa/row.ts";
import type { Variable } from "../symbols.ts";
import type { RawOperand } from "../tree.ts";
import { type DataType, typeBytes } from "../types.ts";
import { leavesVariable } from "./bounds.ts";
import type { RoutineContext } from "./routine-context.ts";
import { ofKind } from "./vector-operand.ts";

/**
 * Checks a raw operand by itself (5_operands.md, "Raw Operands"): it begins inside its variable and, unless its storage
 * is smaller than a register, at a register; and the `bytes` that the instruction accesses are inside the variable's
 * registers.
 */
export function checkRaw(
  context: RoutineContext,
  operand: RawOperand,
  spec: Extract<OperandSpec, { class: "raw" | "lsc-data" }>,
  bytes = 1,
): void {
  const variable = ofKind(context, operand.variable, "G");
  if (variable === null || variable.name === "%null") return;
  if (spec.class === "raw" && spec.types !== undefined && !hasSizeOf(variable.type, spec.types)) {
    const help = `it may be ${spec.types.join(", ")}`;
    context.error("visa-operand-type", operand, `an operand of type ${variable.type} cannot stand here`, help);
  }
  const { offset } = operand;
  const end = offset + bytes <= registersEnd(variable, context.grfBytes) ? offset + 1 : offset + bytes;
  if (leavesVariable(context, operand, variable, offset, end)) return;
  const at = registerOffset(variable, operand.offset);
  if (variable.root.bytes >= context.grfBytes && at % context.grfBytes !== 0) {
    context.error(
      "visa-raw-alignment",
      operand,
      `the operand begins at byte ${at} of \`${variable.root.name}\`, inside a register`,
      `it begins at a multiple of ${context.grfBytes}`,
    );
  }
}

/** Whether a type has the size of one that is allowed. Messages move bits: IGC passes d for ud, and q for uq. */
const hasSizeOf = (type: DataType, types: readonly DataType[]): boolean =>
  types.some((allowed) => typeBytes(allowed) === typeBytes(type));

/**
 * Bytes from a variable's start to the end of its last register. Messages move whole registers: IGC stores 16 bytes
 * from a variable of 8, the old frame pointer. Predefined variables lie side by side, so theirs end with the variable.
 */
const registersEnd = ({ root, rootOffset, bytes }: Variable, grfBytes: number): number =>
  root.predefined ? bytes : Math.ceil((rootOffset + bytes) / grfBytes) * grfBytes - rootOffset;

const registerOffset = (variable: Variable, offset: number): number => variable.rootOffset + offset;
