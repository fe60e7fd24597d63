import type { UnitOp } from "../../ir/index.ts";
import { bulkStore } from "./bulk-store.ts";
import { allocateTensor, freeTensor, relinquishTensor } from "./tensor/allocate.ts";
import { copyToTensor, shiftTensor } from "./tensor/copy.ts";
import { loadTensor, storeTensor } from "./tensor/move.ts";
import { multiplyTensor } from "./tensor/multiply.ts";
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
    case "tensor-alloc":
      allocateTensor(call);
      return;
    case "tensor-dealloc":
      freeTensor(call);
      return;
    case "tensor-relinquish":
      relinquishTensor(call);
      return;
    case "tensor-load":
      loadTensor(op, call);
      return;
    case "tensor-store":
      storeTensor(op, call);
      return;
    case "tensor-multiply":
      multiplyTensor(op, call);
      return;
    case "tensor-copy":
      copyToTensor(op, call);
      return;
    case "tensor-shift":
      shiftTensor(call);
      return;
  }
}
