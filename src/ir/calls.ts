import type { Op } from "./index.ts";

export type CallOp = Extract<Op, { kind: "call" }>;

export type FileCallOp = Extract<Op, { kind: "file-call" }>;

export type SubroutineCallOp = Extract<Op, { kind: "subroutine-call" }>;

/** Whatever enters another function. */
export type AnyCall = CallOp | FileCallOp | SubroutineCallOp;

export const isCall = (op: Op): op is AnyCall =>
  op.kind === "call" || op.kind === "file-call" || op.kind === "subroutine-call";

export const isIndirect = (op: AnyCall): op is CallOp | FileCallOp =>
  op.kind !== "subroutine-call" && op.target.kind === "indirect";
