import { everyLeaf, type Expr } from "../../../semantics/index.ts";
import { lanesOf } from "../../abi/launch-shape.ts";
import { LanePatterns } from "../analysis/access/lane-patterns.ts";
import { participantsIn } from "../analysis/access/participants.ts";
import { withCountersApart } from "../analysis/access/counters-apart.ts";
import { copyAtLoopExits } from "../analysis/code/loop-exit-copies.ts";
import { withNamesBeforeLoops } from "../analysis/code/names-before-loops.ts";
import type { PreparedCode } from "../analysis/code/prepared-code.ts";
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
  isNamed = scope.shape.width !== null,
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
  const named = isNamed ? code : withNamesApart(code, analysis, scope);
  if (named !== code) return planKernel(kernel, named, scope, partial, true);
  return { analysis, points, matrices: new MemoryRegisters(analysis, points, shape.quads) };
}

/** Code with names of their own for what the analysis cannot tell apart: it is to be made again. */
function withNamesApart(code: PreparedCode, analysis: UniformityAnalysis, { shape, facts }: KernelScope): PreparedCode {
  const copied = copyAtLoopExits(code, analysis.isDivergent);
  const named = copied === null ? code : withNamesBeforeLoops(copied);
  const block = shape.full && !shape.scalar ? shape.block : null;
  if (block === null) return named;
  const { length } = code.ir.registers;
  const shapeOf = (expr: Expr): string | null =>
    everyLeaf(expr, (leaf) => leaf.kind !== "reg" || leaf.reg < length) ? analysis.shape(expr).kind : null;
  const patterns = new LanePatterns(named, block, facts.bindings, lanesOf(shape));
  return withCountersApart(named, {
    isUniform: (expr) => shapeOf(expr) === "uniform",
    isUnknown: (expr) => shapeOf(expr) === "vector",
    isOfThread: (expr) => patterns.rangeOf(expr) !== null,
  });
}
