import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, Op } from "../../../../ir/index.ts";
import { controlOf } from "../../../../ir/op-traits.ts";

const nothing: Op = { kind: "pure", values: [] };

/**
 * The code of a function with nothing in the place of instructions to which no way leads. What their operands hold is
 * found out nowhere, so that code for them would be written for wrong kinds of values.
 */
export function withoutUnreached(instructions: readonly Instruction[], graph: FlowGraph): readonly Instruction[] {
  const reached = reachedBlocks(graph);
  if (reached.size === graph.blocks.length) return instructions;
  return instructions.map((instruction, i) => {
    const control = controlOf(instruction.op);
    const goesOn = control === "next" || control === "call";
    if (!goesOn || reached.has(graph.blockAt(i))) return instruction;
    const { lanes: _, ...plain } = instruction;
    return { ...plain, op: nothing, dst: [], guard: null };
  });
}

function reachedBlocks({ blocks }: FlowGraph): ReadonlySet<number> {
  const reached = new Set(blocks.length > 0 ? [0] : []);
  for (const block of reached) {
    for (const next of blocks[block]!.successors) if (next < blocks.length) reached.add(next);
  }
  return reached;
}
