import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import { accessesOf, type IrFunction, type MemoryAccess } from "../../../../ir/index.ts";
import { kind, kindOf } from "../values/lane-kinds.ts";
import { AddressSums } from "./address-sums.ts";

/** Kernels with more instructions are not examined. */
const maxInstructions = 5000;

/** What an access costs in a quad whose lanes have words all over memory; one, where it is a word or a vector. */
const scattered = 4;

/** The same where vectors that lie next to each other have the words of a quad, and the most of those. */
const [spaced, mostSpaced] = [2, 2];

/** Rounds that a loop is taken to make, and loops within each other that count. */
const [rounds, maxDepth] = [8, 3];

/**
 * Whether lanes along y find what they access together, where those along x find it row by row, as in
 * `a[tid.x * n + tid.y]`. `transposed`: the kernel with lanes along y.
 */
export function isBetterAlongY(kernel: IrFunction, transposed: IrFunction): boolean {
  if (kernel.instructions.length > maxInstructions) return false;
  // A small gain is not worth other neighbours.
  return 3 * accessCost(transposed) <= 2 * accessCost(kernel);
}

/** The cost of all accesses of a kernel, with lanes along x. */
function accessCost(ir: IrFunction): number {
  const { instructions } = ir;
  const sums = new AddressSums(ir);
  const costOf = ({ access: { space, bits, count }, place }: MemoryAccess): number => {
    if (place.kind !== "address" || space === "kernel-param" || space === "const" || space === "local") return 0;
    const found = kindOf(place.address, sums.kinds);
    if (found === kind.vector) return scattered;
    const step = found === kind.affine ? sums.stepOf(place.address) : Number.NaN;
    const bytes = (bits / 8) * count;
    if (Number.isNaN(step) || step === bytes) return 1;
    return step > bytes && step <= mostSpaced * bytes ? spaced : scattered;
  };
  const weights = weightsOf(ir);
  return instructions.reduce((sum, { op }, i) => {
    const accesses = accessesOf(op);
    return accesses.length === 0 ? sum : sum + weights(i) * accesses.reduce((all, a) => all + costOf(a), 0);
  }, 0);
}

/** How often an instruction is taken to be executed. */
function weightsOf({ instructions }: IrFunction): (instruction: number) => number {
  const graph = flowGraphOf(instructions);
  const depths = new Uint8Array(graph.blocks.length);
  const visit = ({ start, end, inner }: LoopRange): void => {
    for (let block = start; block <= end; block++) depths[block]!++;
    inner.forEach(visit);
  };
  loopsOf(graph).forEach(visit);
  return (i) => rounds ** Math.min(maxDepth, depths[graph.blockAt(i)]!);
}
