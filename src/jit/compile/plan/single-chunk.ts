import { prepare } from "../analysis/code/prepared-code.ts";
import { inLoopOrder } from "../analysis/code/region-order.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import { preparationIn } from "./call-graph.ts";
import { plansFor } from "./partial-returns.ts";
import type { KernelScope } from "./scope.ts";

/**
 * Plans a kernel whose blocks are one chunk. Where all its lanes come to each barrier together, nobody waits there, and
 * barriers are left out. Null where some may come alone, where barriers are more than one for all threads, or where
 * there are none.
 */
export function plansForSingleChunk(kernel: CompiledFunction, scope: KernelScope) {
  const { graph, facts } = scope;
  if (graph.countsBarriers || graph.functions.some((f) => f !== kernel && barriersIn(f).length > 0)) return null;
  const barriers = barriersIn(kernel);
  const { instructions } = kernel.ir;
  if (barriers.length === 0 || barriers.some((i) => instructions[i]!.guard !== null)) return null;
  const without = instructions.map((instruction, i) =>
    barriers.includes(i) ? ({ ...instruction, op: { kind: "nothing" } } as const) : instruction,
  );
  const origins = kernel.origins ?? instructions.map((_, i) => i);
  const ordered = inLoopOrder({ ir: { ...kernel.ir, instructions: without }, origins });
  const plans = plansFor(kernel, prepare(ordered, facts.bindings, preparationIn(graph)), scope);
  const { code, divergence } = plans.kernelPlan.analysis;
  const left = new Set(barriers.map((i) => origins[i]!));
  const isTogether = code.instructions.every(
    ({ op }, i) =>
      op.kind !== "nothing" || !left.has(code.origins[i]!) || !divergence.mayBePartial(code.graph.blockAt(i)),
  );
  return isTogether ? plans : null;
}

const barriersIn = ({ ir: { instructions } }: CompiledFunction): readonly number[] =>
  instructions.flatMap(({ op }, i) => (op.kind === "barrier" ? [i] : []));
