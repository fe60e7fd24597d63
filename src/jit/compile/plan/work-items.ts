import { asWorkItems, divergenceOf, postDominatorsOf, type WorkItemKernel } from "../../../ir/flow/index.ts";
import { writesOf } from "../../../ir/flow/accesses.ts";
import type { WorkItemModel } from "../../../ir/index.ts";
import type { Bindings } from "../../../semantics/bind.ts";
import { anyShape } from "../../abi/launch-shape.ts";
import { prepare, type PreparedCode } from "../analysis/code/prepared-code.ts";
import { specialShape } from "../analysis/values/special-registers.ts";
import { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { BlockUniform } from "../analysis/values/block-uniform.ts";

/**
 * A vISA kernel as its work items execute it, for threads of `width` lanes, compiled like a kernel of PTX; null where
 * the thread around them makes a difference.
 */
export function workItemForm(
  kernel: Pick<WorkItemKernel, "ir">,
  width: number,
  model: WorkItemModel,
  bindings: Bindings,
): Pick<WorkItemKernel, "ir" | "origins"> | null {
  const found = asWorkItems(kernel.ir, width, model);
  if (found === null) return null;
  const { ir, origins } = found;
  // Registers are left as the thread has them: each is one for all that is written to it.
  const code = prepare({ ir, origins: null }, bindings, { endsBlock: () => false, separates: false });
  if (!isSeparable(code, found)) return null;
  return { ir, origins };
}

/** Whether lanes that go different ways leave each other alone, and all of them come to barriers. */
function isSeparable(code: PreparedCode, { forAllLanes, together }: WorkItemKernel): boolean {
  const quads = 8;
  const shape = { ...anyShape(quads), full: true };
  const analysis = new UniformityAnalysis(code, {
    special: (leaf) => specialShape(leaf, shape),
    params: new Map(),
    full: true,
    stalls: () => false,
    returnsPartially: () => false,
    exitsInCallee: () => false,
    separatesExits: false,
    stacks: false,
    enlistsLanes: false,
    lanes: 4 * quads,
  });
  const { graph, instructions, origins } = code;
  // Where lanes go to end, they wait for each other, too.
  const all = divergenceOf(
    graph,
    { divergent: analysis.isDivergent },
    graph.blocks.map(() => false),
  );
  for (const { index, start, end } of graph.blocks) {
    for (let i = start; i < end; i++) {
      const origin = origins[i]!;
      if (together.has(origin) && all.waiting(index).size > 0) return false;
      if (!forAllLanes.has(origin)) continue;
      let isMissed = false;
      writesOf(instructions[i]!, (r) => {
        isMissed ||= analysis.merges(index, r);
      });
      if (isMissed) return false;
    }
  }
  return !instructions.some(({ op }) => op.kind === "barrier") || allComeToBarriers(code);
}

/**
 * Whether all threads of a block come to the same barriers, whatever way they go: the ways part only where all threads
 * of the block agree, or come together again before any barrier or end.
 */
function allComeToBarriers(code: PreparedCode): boolean {
  const { graph, instructions } = code;
  const uniform = new BlockUniform(code);
  const meeting = postDominatorsOf(graph);
  const isFatal = (block: number): boolean => {
    const { start, end } = graph.blocks[block]!;
    return instructions.slice(start, end).some(({ op }) => op.kind === "barrier" || op.kind === "return");
  };
  return graph.blocks.every(({ index, successors }) => {
    if (successors.length < 2 || uniform.decides(index)) return true;
    const seen = new Set<number>();
    const todo = successors.filter((s) => s !== meeting[index]);
    for (let b = todo.pop(); b !== undefined; b = todo.pop()) {
      if (seen.has(b)) continue;
      seen.add(b);
      if (b >= graph.blocks.length || isFatal(b)) return false;
      for (const s of graph.blocks[b]!.successors) if (s !== meeting[index]) todo.push(s);
    }
    return true;
  });
}
