import type { UnitOp } from "../../ir/index.ts";
import { bulkCopy } from "./bulk-copy.ts";
import { boxLoad, boxStore } from "./box-copy.ts";
import { clearRange } from "./clear-range.ts";
import { copyPart } from "./copy-part.ts";
import type { UnitStates } from "../../machine/state/unit-state.ts";
import { fetchImage } from "../images/fetch.ts";
import { sendToSampler } from "../images/sampler-message.ts";
import { loadTyped, sizeOfSurface, storeTyped } from "../images/typed.ts";
import { queryImage, testImage } from "../images/query.ts";
import { loadSurface, reduceSurface, storeSurface } from "../images/surface.ts";
import { multiplyWarpgroup } from "./multiply-warpgroup.ts";
import { allocateTensor, checkFreed, freeTensor, relinquishTensor } from "./tensor/allocate.ts";
import { copyToTensor, shiftTensor } from "./tensor/copy.ts";
import { loadTensor, storeTensor, waitForTensor } from "./tensor/move.ts";
import { multiplyTensor } from "./tensor/multiply.ts";
import { TensorMemory } from "./tensor/tensor-memory.ts";
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
    case "copy-part":
      copyPart(op, call);
      return;
    case "clear-range":
      clearRange(op, call);
      return;
    case "box-load":
      boxLoad(op, call);
      return;
    case "box-store":
      boxStore(op, call);
      return;
    case "multiply-warpgroup":
      multiplyWarpgroup(op, call);
      return;
    case "tensor-alloc":
      allocateTensor(op, call);
      return;
    case "tensor-dealloc":
      freeTensor(op, call);
      return;
    case "tensor-relinquish":
      relinquishTensor(op, call);
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
      shiftTensor(op, call);
      return;
    case "tensor-wait":
      waitForTensor(op, call);
      return;
    case "image-fetch":
      fetchImage(op, call);
      return;
    case "surface-load":
      loadSurface(op, call);
      return;
    case "surface-store":
      storeSurface(op, call);
      return;
    case "surface-reduce":
      reduceSurface(op, call);
      return;
    case "image-query":
      queryImage(op, call);
      return;
    case "sampler-message":
      sendToSampler(op, call);
      return;
    case "typed-load":
      loadTyped(op, call);
      return;
    case "typed-store":
      storeTyped(op, call);
      return;
    case "surface-size":
      sizeOfSurface(op, call);
      return;
    case "image-test":
      testImage(op, call);
      return;
  }
}

/**
 * A block ends, and must have given back what it has taken of the units.
 *
 * @throws Fault where it took what it has not
 */
export function endUnits(states: UnitStates): void {
  const tensorMemory = states.existing(TensorMemory);
  if (tensorMemory !== null) checkFreed(tensorMemory);
}
