import type { Span } from "../../source/index.ts";
import type { Variable } from "../symbols.ts";
import type { RoutineContext } from "./routine-context.ts";

/**
 * Reports an operand whose bytes, from `start` up to but not including `end`, are not inside its variable; returns
 * whether that is so. It is a warning if the variable's last register contains them.
 */
export function leavesVariable(
  context: RoutineContext,
  span: Span,
  variable: Variable,
  start: number,
  end: number,
): boolean {
  if (start >= 0 && end <= variable.bytes) return false;
  const message = `bytes ${start} to ${end - 1} are not inside \`${variable.name}\`, which has ${variable.bytes}`;
  const notes = variable.predefined ? {} : context.note("declared here", variable.span);
  const inRegisters = start >= 0 && end <= registerBytesOf(variable, context.grfBytes);
  context[inRegisters ? "warning" : "error"]("visa-out-of-bounds", span, message, notes);
  return true;
}

/**
 * Bytes of the registers that a variable's storage takes. IGC declares whole registers of 32 bytes and uses them as
 * such where registers have 64, as in copies of r0; GenX_IR, too, only warns about it. Here nothing else lies in the
 * other half of the register, but on a GPU something may.
 */
const registerBytesOf = ({ bytes, alias }: Variable, grfBytes: number): number =>
  alias === null && bytes % 32 === 0 ? Math.ceil(bytes / grfBytes) * grfBytes : bytes;
