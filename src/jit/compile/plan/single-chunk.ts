import { withForwardedWords } from "../analysis/access/forwarded-words.ts";
import { inLoopOrder } from "../analysis/code/region-order.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import type { KernelScope } from "./scope.ts";
import { plansWithout } from "./without-barriers.ts";

/**
 * Plans a kernel whose blocks are one chunk. Where all its lanes come to each barrier together, nobody waits there, and
 * barriers are left out. Null where some may come alone, where barriers are more than one for all threads, or where
 * there are none.
 */
export function plansForSingleChunk(kernel: CompiledFunction, scope: KernelScope) {
  const { graph } = scope;
  if (
    graph.countsBarriers ||
    graph.reducesInBlock ||
    graph.functions.some((f) => f !== kernel && barriersIn(f).length > 0)
  )
    return null;
  const barriers = barriersIn(kernel);
  const { instructions } = kernel.ir;
  if (barriers.length === 0 || barriers.some((i) => instructions[i]!.guard !== null)) return null;
  const { block, full, quads, scalar } = scope.shape;
  const isFull = block !== null && full && !scalar && block[0] * block[1] * block[2] === 4 * quads;
  return plansWithout(kernel, barriers, inLoopOrder, scope, (code, isBarrier) =>
    isFull ? withForwardedWords(code, isBarrier, block, scope.facts.bindings) : code,
  );
}

const barriersIn = ({ ir: { instructions } }: CompiledFunction): readonly number[] =>
  instructions.flatMap(({ op }, i) => (op.kind === "barrier" ? [i] : []));
