import { type FlowGraph, type FlowOptions, reachableBlocks } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, Op } from "../../../../ir/index.ts";
import { controlOf } from "../../../../ir/op-traits.ts";

const nothing: Op = { kind: "pure", values: [] };

/**
 * The code of a function with nothing in the place of instructions to which no way leads. What their operands hold is
 * found out nowhere, so that code for them would be written for wrong kinds of values. Calls, and what ends or begins a
 * block, stay: the functions that call each other, and the places where they wait, are known already.
 */
export function withoutUnreached(
  instructions: readonly Instruction[],
  graph: FlowGraph,
  { endsBlock, beginsBlock }: Required<FlowOptions>,
): readonly Instruction[] {
  const reached = reachableBlocks(graph.blocks, 0);
  if (graph.blocks.every(({ index }) => reached.has(index))) return instructions;
  return instructions.map((instruction, i) => {
    if (reached.has(graph.blockAt(i)) || controlOf(instruction.op) !== "next") return instruction;
    if (endsBlock(instruction) || beginsBlock(instruction)) return instruction;
    const { lanes: _, ...plain } = instruction;
    return { ...plain, op: nothing, dst: [], guard: null };
  });
}
