import { readsOf } from "../../../../ir/flow/accesses.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Guard, Instruction } from "../../../../ir/index.ts";

/**
 * Lets guards ask for a predicate itself where they ask for its negation, as in `not.pred q, p; @q bra`: compilers
 * write so for each condition that several branches ask for. `isValue`: whether a register is written by one
 * instruction, before it is read.
 */
export function guardsOfNegations(
  instructions: readonly Instruction[],
  graph: FlowGraph,
  isValue: (register: number) => boolean,
): readonly Instruction[] {
  const negated = new Map<number, number>();
  instructions.forEach((instruction, i) => {
    const of = negationOf(instruction);
    if (of === null || !isValue(of) || !isValue(instruction.dst[0] as number)) return;
    const { start } = graph.blocks[graph.blockAt(i)]!;
    if (isWrittenBefore(instructions, start, i, of)) negated.set(instruction.dst[0] as number, of);
  });
  if (negated.size === 0) return instructions;
  return instructions.map((instruction) => {
    const { guard } = instruction;
    const of = guard === null || guard.collapse !== undefined ? undefined : negated.get(guard.register);
    return of === undefined ? instruction : { ...instruction, guard: opposite(guard!, of) };
  });
}

const opposite = ({ negate }: Guard, register: number): Guard => ({ register, negate: !negate });

/** The predicate whose negation an instruction computes, and nothing else; null for others. */
function negationOf({ op, dst, guard, lanes }: Instruction): number | null {
  if (op.kind !== "pure" || guard !== null || lanes !== undefined || dst.length !== 1) return null;
  const [value] = op.values;
  if (typeof dst[0] !== "number" || value?.kind !== "prim" || value.prim !== "pred.not") return null;
  const [arg] = value.args;
  return arg?.kind === "reg" ? arg.reg : null;
}

/**
 * Whether a register is written in the block of an instruction before it, and the result of the instruction is not read
 * between the two: whoever reads that later would find the register as it was.
 */
function isWrittenBefore(instructions: readonly Instruction[], start: number, end: number, register: number): boolean {
  const [result] = instructions[end]!.dst;
  for (let i = end - 1; i >= start; i--) {
    const { dst, guard, lanes } = instructions[i]!;
    if (dst.includes(register)) return guard === null && lanes === undefined;
    let isRead = false;
    readsOf(instructions[i]!, { register: (r) => (isRead ||= r === result) });
    if (isRead) return false;
  }
  return false;
}
