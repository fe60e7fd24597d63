import { prepare } from "../analysis/code/prepared-code.ts";
import type { SourceCode } from "../analysis/code/source-code.ts";
import { preparationIn } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import { plansFor } from "./partial-returns.ts";
import type { KernelScope } from "./scope.ts";

/**
 * Plans a kernel with some of its barriers (instructions) left out; null where not all lanes of a chunk come to each of
 * them together. `order`: lays out its blocks.
 */
export function plansWithout(
  kernel: CompiledFunction,
  barriers: readonly number[],
  order: (code: SourceCode) => SourceCode,
  scope: KernelScope,
) {
  const { instructions } = kernel.ir;
  const without = instructions.map((instruction, i) =>
    barriers.includes(i) ? ({ ...instruction, op: { kind: "nothing" } } as const) : instruction,
  );
  const origins = kernel.origins ?? instructions.map((_, i) => i);
  const ordered = order({ ir: { ...kernel.ir, instructions: without }, origins });
  const plans = plansFor(kernel, prepare(ordered, scope.facts.bindings, preparationIn(scope.graph)), scope);
  const { code, divergence } = plans.kernelPlan.analysis;
  const left = new Set(barriers.map((i) => origins[i]!));
  const isTogether = code.instructions.every(
    ({ op }, i) =>
      op.kind !== "nothing" || !left.has(code.origins[i]!) || !divergence.mayBePartial(code.graph.blockAt(i)),
  );
  return isTogether ? plans : null;
}
