import type { FlowGraph } from "./flow-graph.ts";

/** The range of blocks, in layout order, that a loop spans. */
export interface LoopRange {
  readonly start: number;
  /** The last block; a branch leads back to `start` from here or from an inner range that ends here. */
  readonly end: number;
  readonly inner: readonly LoopRange[];
}

interface OpenRange extends LoopRange {
  end: number;
  readonly inner: OpenRange[];
}

/**
 * The loops of code in layout order: from the target of each backward branch to its last source. Of two that cross, the
 * first is extended to the end of the second, so that they nest.
 */
export function loopsOf({ blocks }: Pick<FlowGraph, "blocks">): readonly LoopRange[] {
  const roots: OpenRange[] = [];
  const open: OpenRange[] = [];
  const close = (): void => {
    const { end } = open.pop()!;
    const around = open[open.length - 1];
    if (around !== undefined) around.end = Math.max(around.end, end);
  };
  for (const { index: start, predecessors } of blocks) {
    let end = -1;
    for (let i = 0; i < predecessors.length; i++) end = Math.max(end, predecessors[i]!);
    if (end < start) continue;
    while (open.length > 0 && open[open.length - 1]!.end < start) close();
    const range: OpenRange = { start, end, inner: [] };
    (open[open.length - 1]?.inner ?? roots).push(range);
    open.push(range);
  }
  while (open.length > 0) close();
  return roots;
}
