import { accessesOf, type Instruction, type IrFunction, leadsBack } from "../../ir/index.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import type { Bindings } from "../../semantics/bind.ts";
import { specialsRead } from "../compile/analysis/values/special-registers.ts";
import { withDecidedBranches } from "../compile/analysis/versions/decided-branches.ts";

/** Kernels with more instructions have one code for several shapes of blocks: compiling takes longer than it gains. */
const maxInstructions = 5000;

/** Whether code, if it is not too long, uses the size of blocks or shared variables. */
export const dependsOnBlock = (instructions: readonly Instruction[]): boolean =>
  instructions.length <= maxInstructions &&
  ([...specialsRead(instructions)].some((name) => name.startsWith("ntid.")) ||
    instructions.some(({ op }) => accessesOf(op).some(({ access: { space } }) => space === "shared")));

/** Whether a kernel, if it is not too long, asks for the numbers of its threads. */
export const readsThreads = ({ instructions }: IrFunction): boolean =>
  instructions.length <= maxInstructions && [...specialsRead(instructions)].some((name) => name.startsWith("tid."));

/** Whether a kernel has loops, and its threads' numbers decide branches in blocks of this size. */
export function hasDecidedLoops(ir: IrFunction, block: Dim3, bindings: Bindings): boolean {
  if (!ir.instructions.some(leadsBack) || !readsThreads(ir)) return false;
  return withDecidedBranches({ ir, origins: null }, block, bindings).ir !== ir;
}
