import { lanesOf } from "../../abi/launch-shape.ts";
import { copyAtLoopExits } from "../analysis/code/loop-exit-copies.ts";
import { withNamesBeforeLoops } from "../analysis/code/names-before-loops.ts";
import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import { participantsIn } from "../analysis/access/participants.ts";
import { specialShape } from "../analysis/values/special-registers.ts";
import { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import { exitsInCallee } from "./function-plans.ts";
import { MemoryRegisters } from "./memory-registers.ts";
import { resumeBlocks, type SuspensionPoints, barrierPlacesOf, suspensionPointsOf } from "./suspension-points.ts";
import type { KernelScope } from "./scope.ts";

/** A kernel, analysed: all that is decided before its code is written. */
export interface KernelPlan {
  readonly analysis: UniformityAnalysis;
  readonly points: SuspensionPoints;
  readonly matrices: MemoryRegisters;
}

/**
 * Analyses a kernel. Where divergent loops would make values vectors that are needed only after them, its code gets
 * loop-exit copies first. `partial`: functions from which some lanes may return before others.
 */
export function planKernel(
  kernel: CompiledFunction,
  code: PreparedCode,
  scope: KernelScope,
  partial: ReadonlySet<CompiledFunction>,
  hasCopies = scope.shape.width !== null,
): KernelPlan {
  const { shape, graph, stacks } = scope;
  const points = suspensionPointsOf(code, graph, partial);
  const resumed = resumeBlocks(points);
  const analysis = new UniformityAnalysis(code, {
    special: (leaf) => specialShape(leaf, shape),
    params: new Map(),
    full: shape.full,
    stalls: (block) => resumed.has(block),
    barrierPlaces: barrierPlacesOf(code, points, graph.isLockstep),
    returnsPartially: (block) => points.partialReturns.has(block),
    exitsInCallee: exitsInCallee(code, graph),
    separatesExits: false,
    stacks: stacks.isUsed,
    enlistsLanes: graph.enlistsLanes(kernel),
    asksTogether: true,
    lanes: lanesOf(shape),
    participants: participantsIn(code, shape, scope.facts.bindings),
  });
  const copied = hasCopies ? null : copyAtLoopExits(code, analysis.isDivergent);
  if (copied !== null) return planKernel(kernel, withNamesBeforeLoops(copied), scope, partial, true);
  return { analysis, points, matrices: new MemoryRegisters(analysis, points, shape.quads) };
}
