import { Analysis } from "./analysis.ts";
import type { Callable } from "./callables.ts";
import { losesLanes } from "./plan.ts";
import type { Prepared } from "./prepare.ts";
import { specialShape } from "./specials.ts";
import { pausedBlocks, type Pauses, pausesOf } from "./suspension.ts";
import type { Unit } from "./unit.ts";
import { splitAtLoopExits } from "./loop-exits.ts";

/** What is known beforehand. `parting`: functions from which some lanes may come back before others. */
interface Surroundings extends Pick<Unit, "shape" | "graph" | "stacks"> {
  readonly parting: ReadonlySet<Callable>;
}

/** A kernel as it will be written. */
export interface Analysed {
  readonly analysis: Analysis;
  readonly pauses: Pauses;
}

/** The code of a kernel, with registers split where that makes it better. */
export function analyse(
  kernel: Callable,
  code: Prepared,
  plan: Surroundings,
  isSplit = plan.shape.width !== null,
): Analysed {
  const { shape, graph, stacks, parting } = plan;
  const pauses = pausesOf(code, graph, parting);
  const stalled = pausedBlocks(pauses);
  const analysis = new Analysis(code, {
    special: (leaf) => specialShape(leaf, shape),
    params: new Map(),
    full: shape.full,
    stalls: (block) => stalled.has(block),
    parts: (block) => pauses.parting.has(block),
    loses: losesLanes(code, graph),
    tellsExits: false,
    stacks: stacks.isUsed,
    isTaken: graph.takesLanes(kernel),
    lanes: 4 * shape.quads,
  });
  const split = isSplit ? null : splitAtLoopExits(code, analysis.isDivergent);
  return split === null ? { analysis, pauses } : analyse(kernel, split, plan, true);
}
