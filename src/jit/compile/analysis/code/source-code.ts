import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import { retargeted } from "../../../../ir/retarget.ts";

/** A function as it comes from lowering and inlining, and from the passes that prepare it for analysis. */
export interface SourceCode {
  readonly ir: IrFunction;
  /** By instruction, its number in the function that reports name; null: the same. */
  readonly origins: readonly number[] | null;
}

/** Whether all threads that come to an instruction wait there for the others. */
export const isBarrier = ({ op, guard }: Instruction): boolean => op.kind === "barrier" && guard === null;

/** A function with each instruction replaced by some; what branched to it goes to the first of them. */
export function withReplaced(
  { ir, origins }: SourceCode,
  replace: (instruction: Instruction, index: number) => readonly Instruction[],
): SourceCode {
  const instructions: Instruction[] = [];
  const from: number[] = [];
  const places = new Int32Array(ir.instructions.length + 1);
  ir.instructions.forEach((instruction, i) => {
    places[i] = instructions.length;
    for (const each of replace(instruction, i)) {
      instructions.push(each);
      from.push(origins?.[i] ?? i);
    }
  });
  places[ir.instructions.length] = instructions.length;
  const moved = instructions.map((instruction) => retargeted(instruction, (target) => places[target]!));
  return { ir: { ...ir, instructions: moved }, origins: from };
}
