import type { Argument, Op } from "./instruction.ts";
import type { IrFunction } from "./module.ts";

/** A call of a PTX function, or of a function that the runtime provides. */
export type CallOp = Extract<Op, { kind: "call" }>;
/** A call of a vISA function, which has a byte file of its own (`fcall`, `ifcall`). */
export type FileCallOp = Extract<Op, { kind: "file-call" }>;
/** A call of a vISA subroutine, which shares its caller's byte file. */
export type SubroutineCallOp = Extract<Op, { kind: "subroutine-call" }>;

/**
 * The words in which the machine takes an argument of a function that it provides, as bytes of each: one, but a
 * structure of more than eight bytes comes in words of four.
 */
export function wordBytesOf(arg: Argument): readonly number[] {
  if (arg.kind !== "frame") return [8];
  return arg.size <= 8 ? [arg.size] : Array.from({ length: Math.ceil(arg.size / 4) }, () => 4);
}

/** An operation that enters another function, or a subroutine of its own. */
export type AnyCall = CallOp | FileCallOp | SubroutineCallOp;

/** Whether an operation is a call of any kind. */
export const isCall = (op: Op): op is AnyCall =>
  op.kind === "call" || op.kind === "file-call" || op.kind === "subroutine-call";

/** Whether a call goes to a computed address. */
export const isIndirect = (op: AnyCall): op is CallOp | FileCallOp =>
  op.kind !== "subroutine-call" && op.target.kind === "indirect";

/** Whether a call of vISA may go to a routine: both agree on what is passed, or the call names it (`checkSizes`). */
export function fits(op: FileCallOp, { kind, file }: IrFunction): boolean {
  if (kind !== "function" || file === undefined) return false;
  const { argSize, retvalSize } = file;
  if (op.target.kind === "direct") return true;
  return (argSize ?? op.argSize) === op.argSize && (retvalSize ?? op.retvalSize) === op.retvalSize;
}
