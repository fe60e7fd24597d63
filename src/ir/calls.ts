import type { Op } from "./instruction.ts";

export type CallOp = Extract<Op, { kind: "call" }>;
export type FileCallOp = Extract<Op, { kind: "file-call" }>;
export type SubroutineCallOp = Extract<Op, { kind: "subroutine-call" }>;

/** An operation that enters another function, or a subroutine of its own. */
export type AnyCall = CallOp | FileCallOp | SubroutineCallOp;

export const isCall = (op: Op): op is AnyCall =>
  op.kind === "call" || op.kind === "file-call" || op.kind === "subroutine-call";

/** Whether a call goes to a computed address. */
export const isIndirect = (op: AnyCall): op is CallOp | FileCallOp =>
  op.kind !== "subroutine-call" && op.target.kind === "indirect";
