import type { UnitOp } from "../../ir/index.ts";
import { bulkCopy } from "./bulk-copy.ts";
import { tensorLoad, tensorStore } from "./tensor-copy.ts";
import type { UnitCall } from "./unit-call.ts";

/**
 * Performs a unit operation, the same for both engines. Whatever a fault leaves behind counts as done: a launch ends
 * with it.
 *
 * @throws Fault
 */
export function performUnit(op: UnitOp, call: UnitCall): void {
  switch (op.op) {
    case "bulk-copy":
      bulkCopy(op, call);
      return;
    case "tensor-load":
      tensorLoad(op, call);
      return;
    case "tensor-store":
      tensorStore(op, call);
      return;
  }
}
