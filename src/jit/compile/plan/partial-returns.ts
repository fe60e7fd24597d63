import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./callables.ts";
import { type FunctionPlan, Planning } from "./function-plans.ts";
import { planKernel, type KernelPlan } from "./kernel-plan.ts";
import type { KernelScope } from "./scope.ts";

/** What is looked at of a kernel, or of a function. */
type Written = KernelPlan | FunctionPlan;

/** The kernel and its functions, once it is known from which of these lanes come back together. */
export function plansFor(kernel: CompiledFunction, code: PreparedCode, scope: KernelScope) {
  for (let parting: ReadonlySet<CompiledFunction> = new Set(); ; ) {
    const kernelPlan = planKernel(kernel, code, scope, parting);
    const functionPlans = new Planning(scope, parting).from(kernelPlan.analysis);
    const found = partiallyReturning(functionPlans, scope.graph, parting);
    if (found.size === parting.size) return { kernelPlan, functionPlans };
    parting = found;
  }
}

/**
 * The functions from which some lanes may come back while others with which they were called wait in them. `known`: those that have been
 * found before.
 */
function partiallyReturning(
  plans: readonly FunctionPlan[],
  graph: CallGraph,
  known: ReadonlySet<CompiledFunction>,
): ReadonlySet<CompiledFunction> {
  const found = new Set(known);
  for (const { callable, analysis, pauses } of plans) {
    // Hardware threads wait as a whole.
    if (!graph.pauses(callable) || callable.part !== null) continue;
    const { barriers, spins, calls, parting } = pauses;
    const waitApart = [...barriers.keys(), ...calls].some((block) => !staysTogether(analysis, block));
    if (spins.size > 0 || parting.size > 0 || waitApart) found.add(callable);
  }
  return found;
}

/** Whether all lanes of a function that are left come to the end of a block, and do together what stands there. */
function staysTogether(analysis: UniformityAnalysis, block: number): boolean {
  const { graph, instructions } = analysis.code;
  const { guard } = instructions[graph.blocks[block]!.end - 1]!;
  return !analysis.divergence.mayBePartial(block) && analysis.isUniformGuard(guard);
}

/** The functions of which each chunk has one activation at a time, at most. */
export function soleFunctions(
  kernel: KernelPlan,
  plans: readonly FunctionPlan[],
  graph: CallGraph,
): ReadonlySet<CompiledFunction> {
  const sole = new Set(graph.order.recursive ? [] : plans.map(({ callable }) => callable));
  const look = ({ analysis }: Written, isSole: boolean): boolean => {
    const { blocks } = analysis.code.graph;
    let changed = false;
    for (const { index, end } of blocks) {
      const { op } = analysis.code.instructions[end - 1]!;
      if (op.kind !== "call" || (isSole && !analysis.divergence.mayBePartial(index))) continue;
      for (const f of graph.targetsOf(op)) if (sole.delete(f)) changed = true;
    }
    return changed;
  };
  look(kernel, true);
  for (let changed = true; changed; ) {
    changed = false;
    for (const plan of plans) if (look(plan, sole.has(plan.callable))) changed = true;
  }
  return sole;
}
