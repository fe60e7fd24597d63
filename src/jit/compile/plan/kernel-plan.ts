import { copyAtLoopExits } from "../analysis/code/loop-exit-copies.ts";
import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import { specialShape } from "../analysis/values/special-registers.ts";
import { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { CompiledFunction } from "./callables.ts";
import { exitsInCallee } from "./function-plans.ts";
import { resumeBlocks, type SuspensionPoints, suspensionPointsOf } from "./pauses.ts";
import type { KernelScope } from "./scope.ts";

/** A kernel as it will be written. */
export interface KernelPlan {
  readonly analysis: UniformityAnalysis;
  readonly pauses: SuspensionPoints;
}

/** The code of a kernel, with registers split where that makes it better. */
export function planKernel(
  kernel: CompiledFunction,
  code: PreparedCode,
  scope: KernelScope,
  parting: ReadonlySet<CompiledFunction>,
  isSplit = scope.shape.width !== null,
): KernelPlan {
  const { shape, graph, stacks } = scope;
  const pauses = suspensionPointsOf(code, graph, parting);
  const stalled = resumeBlocks(pauses);
  const analysis = new UniformityAnalysis(code, {
    special: (leaf) => specialShape(leaf, shape),
    params: new Map(),
    full: shape.full,
    stalls: (block) => stalled.has(block),
    parts: (block) => pauses.parting.has(block),
    loses: exitsInCallee(code, graph),
    tellsExits: false,
    stacks: stacks.isUsed,
    isTaken: graph.takesLanes(kernel),
    lanes: 4 * shape.quads,
  });
  const split = isSplit ? null : copyAtLoopExits(code, analysis.isDivergent);
  return split === null ? { analysis, pauses } : planKernel(kernel, split, scope, parting, true);
}
