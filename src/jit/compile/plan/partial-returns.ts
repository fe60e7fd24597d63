import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import { type FunctionPlan, Planning } from "./function-plans.ts";
import { planKernel, type KernelPlan } from "./kernel-plan.ts";
import type { KernelScope } from "./scope.ts";

type Plan = KernelPlan | FunctionPlan;

/**
 * Plans a kernel and its functions. Which functions may return for some lanes alone decides where callers diverge, and
 * where callers diverge decides which functions may: planned anew until no more are found.
 */
export function plansFor(kernel: CompiledFunction, code: PreparedCode, scope: KernelScope) {
  for (let partial: ReadonlySet<CompiledFunction> = new Set(); ; ) {
    const kernelPlan = planKernel(kernel, code, scope, partial);
    const functionPlans = new Planning(scope, partial).from(kernelPlan.analysis);
    const found = partiallyReturning(functionPlans, scope.graph, partial);
    if (found.size === partial.size) return { kernelPlan, functionPlans };
    partial = found;
  }
}

/**
 * Functions that may return for some of the calling lanes while others are suspended inside. `known`: those found
 * before.
 */
function partiallyReturning(
  plans: readonly FunctionPlan[],
  graph: CallGraph,
  known: ReadonlySet<CompiledFunction>,
): ReadonlySet<CompiledFunction> {
  const found = new Set(known);
  for (const { compiled, analysis, points } of plans) {
    // Hardware threads suspend as a whole.
    if (!graph.suspends(compiled) || compiled.part !== null) continue;
    const { barriers, spins, calls, partialReturns } = points;
    const suspendApart = [...barriers.keys(), ...calls].some((block) => !staysTogether(analysis, block));
    if (spins.size > 0 || partialReturns.size > 0 || suspendApart) found.add(compiled);
  }
  return found;
}

/**
 * Whether all lanes of a function that have not returned reach the end of a block together, and execute together what
 * stands there.
 */
function staysTogether(analysis: UniformityAnalysis, block: number): boolean {
  const { graph, instructions } = analysis.code;
  const { guard } = instructions[graph.blocks[block]!.end - 1]!;
  return !analysis.divergence.mayBePartial(block) && analysis.isUniformGuard(guard);
}

/** The functions of which each chunk has at most one activation at a time. */
export function soleFunctions(
  kernel: KernelPlan,
  plans: readonly FunctionPlan[],
  graph: CallGraph,
): ReadonlySet<CompiledFunction> {
  const sole = new Set(graph.order.recursive ? [] : plans.map(({ compiled }) => compiled));
  const visit = ({ analysis }: Plan, isSole: boolean): boolean => {
    const { blocks } = analysis.code.graph;
    let changed = false;
    for (const { index, end } of blocks) {
      const { op } = analysis.code.instructions[end - 1]!;
      if (op.kind !== "call" || (isSole && !analysis.divergence.mayBePartial(index))) continue;
      for (const f of graph.targetsOf(op)) if (sole.delete(f)) changed = true;
    }
    return changed;
  };
  visit(kernel, true);
  for (let changed = true; changed; ) {
    changed = false;
    for (const plan of plans) if (visit(plan, sole.has(plan.compiled))) changed = true;
  }
  return sole;
}
