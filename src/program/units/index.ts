import type { UnitOp, UnitOpOf } from "../../ir/index.ts";
import { bulkCopy } from "./bulk-copy.ts";
import { boxLoad, boxStore } from "./box-copy.ts";
import { clearRange } from "./clear-range.ts";
import { copyPart } from "./copy-part.ts";
import type { UnitStates } from "../../machine/state/unit-state.ts";
import { fetchImage } from "../images/fetch.ts";
import { sampleBlock } from "../images/sample-block.ts";
import { sendToSampler } from "../images/sampler-message.ts";
import { loadImageBlock, storeImageBlock } from "../images/image-block.ts";
import { countSamples, loadTyped, sizeOfSurface, storeTyped, updateTyped } from "../images/typed.ts";
import { queryImage, testImage } from "../images/query.ts";
import { loadSurface, reduceSurface, storeSurface } from "../images/surface.ts";
import { offerToFused, takeFromFused } from "./fused-threads.ts";
import { loadBlock, storeBlock } from "./matrix-block.ts";
import { multiplyWarpgroup } from "./multiply-warpgroup.ts";
import { allocateTensor, checkFreed, freeTensor, relinquishTensor } from "./tensor/allocate.ts";
import { copyToTensor, shiftTensor } from "./tensor/copy.ts";
import { loadTensor, storeTensor, waitForTensor } from "./tensor/move.ts";
import { multiplyTensor } from "./tensor/multiply.ts";
import { TensorMemory } from "./tensor/tensor-memory.ts";
import type { UnitCall } from "./unit-call.ts";

/** What performs each kind of unit operation. */
const units: { readonly [K in UnitOp["op"]]: (op: UnitOpOf<K>, call: UnitCall) => void } = {
  "bulk-copy": bulkCopy,
  "copy-part": copyPart,
  "clear-range": clearRange,
  "box-load": boxLoad,
  "box-store": boxStore,
  "multiply-warpgroup": multiplyWarpgroup,
  "tensor-alloc": allocateTensor,
  "tensor-dealloc": freeTensor,
  "tensor-relinquish": relinquishTensor,
  "tensor-load": loadTensor,
  "tensor-store": storeTensor,
  "tensor-multiply": multiplyTensor,
  "tensor-copy": copyToTensor,
  "tensor-shift": shiftTensor,
  "tensor-wait": waitForTensor,
  "image-fetch": fetchImage,
  "surface-load": loadSurface,
  "surface-store": storeSurface,
  "surface-reduce": reduceSurface,
  "image-query": queryImage,
  "sampler-message": sendToSampler,
  "typed-load": loadTyped,
  "typed-store": storeTyped,
  "surface-size": sizeOfSurface,
  "typed-atomic": updateTyped,
  "block-load": loadBlock,
  "block-store": storeBlock,
  "image-block-load": loadImageBlock,
  "image-block-store": storeImageBlock,
  "sample-block": sampleBlock,
  "fused-offer": offerToFused,
  "fused-take": takeFromFused,
  "sample-count": countSamples,
  "image-test": testImage,
  observe: () => {
    throw new Error("only code that watches itself shows what it does");
  },
};

/**
 * Performs a unit operation, the same for both engines. Whatever a fault leaves behind counts as done: a launch ends
 * with it.
 *
 * @throws Fault
 */
export const performUnit = (op: UnitOp, call: UnitCall): void =>
  (units[op.op] as (op: UnitOp, call: UnitCall) => void)(op, call);

/**
 * A block ends, and must have given back what it has taken of the units.
 *
 * @throws Fault where it took what it has not
 */
export function endUnits(states: UnitStates): void {
  const tensorMemory = states.existing(TensorMemory);
  if (tensorMemory !== null) checkFreed(tensorMemory);
}
