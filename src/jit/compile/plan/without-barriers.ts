import { prepare, type PreparedCode } from "../analysis/code/prepared-code.ts";
import type { SourceCode } from "../analysis/code/source-code.ts";
import { preparationIn } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import { plansFor } from "./partial-returns.ts";
import type { KernelScope } from "./scope.ts";

/**
 * Plans a kernel with some of its barriers (instructions) left out; null where not all lanes of a chunk come to each of
 * them together. `order`: lays out its blocks. `prepared`: goes on with the code; all of this holds for what it gives.
 */
export function plansWithout(
  kernel: CompiledFunction,
  barriers: readonly number[],
  order: (code: SourceCode) => SourceCode,
  scope: KernelScope,
  prepared: (code: PreparedCode, isLeftOut: (instruction: number) => boolean) => PreparedCode = (code) => code,
) {
  const { instructions } = kernel.ir;
  const without = instructions.map((instruction, i) =>
    barriers.includes(i) ? ({ ...instruction, op: { kind: "nothing" } } as const) : instruction,
  );
  const origins = kernel.origins ?? instructions.map((_, i) => i);
  const ordered = order({ ir: { ...kernel.ir, instructions: without }, origins });
  const left = new Set(barriers.map((i) => origins[i]!));
  const isLeftOut = (code: PreparedCode, i: number): boolean =>
    code.instructions[i]!.op.kind === "nothing" && left.has(code.origins[i]!);
  const bare = prepare(ordered, scope.facts.bindings, preparationIn(scope.graph));
  const plans = plansFor(
    kernel,
    prepared(bare, (i) => isLeftOut(bare, i)),
    scope,
  );
  const { code, divergence } = plans.kernelPlan.analysis;
  const isTogether = code.instructions.every(
    (_, i) => !isLeftOut(code, i) || !divergence.mayBePartial(code.graph.blockAt(i)),
  );
  return isTogether ? plans : null;
}
