import { type Instruction, type IrFunction, isLanewise } from "../../../../ir/index.ts";
import { divergentKindsOf, kind } from "../values/lane-kinds.ts";

/** The most instructions of a loop that is written once more for the lanes that stay in it. */
export const maxLoopInstructions = 100;

/**
 * Whether a function may have loops of one block that lanes leave one by one, and after which lanes of a warp exchange
 * values: as far as a look at each instruction shows it.
 */
export function hasLoopsBeforeExchange(ir: IrFunction): boolean {
  const { instructions } = ir;
  const last = instructions.findLastIndex(({ op }) => op.kind === "warp");
  const ends = instructions.filter((end, i) => i < last && endsLoop(instructions, end, i));
  if (ends.length === 0) return false;
  const kinds = divergentKindsOf(ir);
  return ends.some(({ guard }) => kinds[guard!.register] !== kind.uniform);
}

/** Whether an instruction leads back over some that each lane executes for itself. */
const endsLoop = (instructions: readonly Instruction[], { op, guard }: Instruction, at: number): boolean =>
  op.kind === "branch" &&
  guard !== null &&
  op.target <= at &&
  at - op.target < maxLoopInstructions &&
  instructions.slice(op.target, at).every((inner) => inner.lanes === undefined && isLanewise(inner.op));
