import type { UnitOp } from "../../ir/index.ts";
import { bulkStore } from "./bulk-store.ts";
import type { UnitCall } from "./unit-call.ts";

/**
 * Performs a unit operation, the same for both engines. Whatever a fault leaves behind counts as done: a launch ends
 * with it.
 *
 * @throws Fault
 */
export function performUnit(op: UnitOp, call: UnitCall): void {
  switch (op.op) {
    case "bulk-store":
      bulkStore(op, call);
      return;
  }
}
