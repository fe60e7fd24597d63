import type { Op, UnitOp } from "../ir/index.ts";

/** Whether a unit of the machine copies, or reduces, from one memory to another. */
const copies: Readonly<Record<UnitOp["op"], boolean>> = {
  "bulk-copy": true,
  "box-load": true,
  "box-store": true,
  "tensor-copy": true,
  "multiply-warpgroup": false,
  "tensor-alloc": false,
  "tensor-dealloc": false,
  "tensor-relinquish": false,
  "tensor-load": false,
  "tensor-store": false,
  "tensor-multiply": false,
  "tensor-shift": false,
  "tensor-wait": false,
};

/** Whether an operation is an asynchronous copy. */
export const isAsyncCopy = (op: Op): boolean => op.kind === "copy" || (op.kind === "unit" && copies[op.unit.op]);
