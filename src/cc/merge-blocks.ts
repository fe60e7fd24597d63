import type { Block, Graph } from "./graph.ts";

/** Brings blocks together of which one always follows the other, so that values of both can be computed together. */
export function mergeBlocks(graph: Graph): void {
  const reached = new Set<Block>([graph.blocks[0]!]);
  for (const block of reached) for (const to of block.successors) reached.add(to);
  for (const block of graph.blocks) {
    if (!reached.has(block)) continue;
    for (let [next] = block.successors; follows(block, next); [next] = block.successors) {
      for (const node of next.nodes) (node as { block: Block }).block = block;
      block.nodes.push(...next.nodes);
      next.nodes = [];
      block.end = next.end;
      next.end = { kind: "unreachable" };
      block.successors.length = 0;
      block.successors.push(...next.successors);
      for (const to of next.successors) {
        to.predecessors.forEach((from, i) => {
          if (from === next) to.predecessors[i] = block;
        });
      }
      next.successors.length = 0;
      reached.delete(next);
    }
  }
}

function follows(block: Block, next: Block | undefined): next is Block {
  return (
    next !== undefined &&
    next !== block &&
    block.end.kind === "goto" &&
    next.predecessors.length === 1 &&
    next.phis.length === 0
  );
}
