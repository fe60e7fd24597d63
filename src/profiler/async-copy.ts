import { type Op, unitTraits } from "../ir/index.ts";

/** Whether an operation is an asynchronous copy: `cp.async`, or one of a unit of the machine. */
export const isAsyncCopy = (op: Op): boolean =>
  op.kind === "copy" || (op.kind === "unit" && unitTraits[op.unit.op].copies === true);
