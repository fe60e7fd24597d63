import { accessesOf, type Instruction, type IrFunction, type MemoryAccess } from "../../../../ir/index.ts";
import { kind, kindOf } from "../values/lane-kinds.ts";
import { AddressSums } from "./address-sums.ts";

/** Loads of bytes, half words and words at strides below this are shuffled out of vectors. */
const maxSpacing = 13;

/** Kernels with more instructions are not examined. */
const maxInstructions = 20_000;

/**
 * The number of accesses whose elements lie apart, or where what has been loaded says, so that each lane has a load or
 * store of its own: the vectors that are composed of them are all live at once, for as many lanes as there are in a
 * chunk.
 */
export function laneByLaneAccesses(ir: IrFunction): number {
  if (ir.instructions.length > maxInstructions) return 0;
  const sums = new AddressSums(ir);
  // Addresses that are computed from lane numbers are mostly consecutive.
  const isLaneByLane = ({ effect, access: { space, bits, count }, place }: MemoryAccess): boolean => {
    if (effect === "atomic" || place.kind !== "address" || space === "kernel-param" || space === "const") return false;
    const found = kindOf(place.address, sums.kinds);
    if (found !== kind.affine) return found === kind.vector;
    const step = Math.abs(sums.stepOf(place.address));
    return step !== (bits / 8) * count && (effect === "store" || step >= maxSpacing);
  };
  const countOf = ({ op }: Instruction): number => accessesOf(op).filter(isLaneByLane).length;
  return ir.instructions.reduce((sum, instruction) => sum + countOf(instruction), 0);
}
