import { copyAtLoopExits } from "../analysis/code/loop-exit-copies.ts";
import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import { specialShape } from "../analysis/values/special-registers.ts";
import { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { CompiledFunction } from "./callables.ts";
import { exitsInCallee } from "./function-plans.ts";
import { resumeBlocks, type SuspensionPoints, suspensionPointsOf } from "./pauses.ts";

/** What is known beforehand. `parting`: functions from which some lanes may come back before others. */
interface Surroundings extends Pick<ModuleUnit, "shape" | "graph" | "stacks"> {
  readonly parting: ReadonlySet<CompiledFunction>;
}

/** A kernel as it will be written. */
export interface KernelPlan {
  readonly analysis: UniformityAnalysis;
  readonly pauses: SuspensionPoints;
}

/** The code of a kernel, with registers split where that makes it better. */
export function planKernel(
  kernel: CompiledFunction,
  code: PreparedCode,
  plan: Surroundings,
  isSplit = plan.shape.width !== null,
): KernelPlan {
  const { shape, graph, stacks, parting } = plan;
  const pauses = suspensionPointsOf(code, graph, parting);
  const stalled = resumeBlocks(pauses);
  const analysis = new UniformityAnalysis(code, {
    special: (leaf) => specialShape(leaf, shape),
    params: new Map(),
    full: shape.full,
    stalls: (block) => stalled.has(block),
    returnsPartially: (block) => pauses.parting.has(block),
    exitsInCallee: exitsInCallee(code, graph),
    separatesExits: false,
    stacks: stacks.isUsed,
    enlistsLanes: graph.takesLanes(kernel),
    lanes: 4 * shape.quads,
  });
  const split = isSplit ? null : copyAtLoopExits(code, analysis.isDivergent);
  return split === null ? { analysis, pauses } : planKernel(kernel, split, plan, true);
}
