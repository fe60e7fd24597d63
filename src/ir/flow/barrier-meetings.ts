import { type Divergence, type DivergenceOptions, divergenceOf } from "./divergence.ts";
import type { FlowGraph } from "./flow-graph.ts";

/** The blocks at which lanes wait for barriers that release them once each other thread is at one, or gone. */
export interface BarrierPlaces {
  /** All of them, and calls in which lanes may wait for one. */
  readonly all: ReadonlySet<number>;
  /** Those to which no other way leads than past such a barrier. */
  readonly released: ReadonlySet<number>;
}

/**
 * `divergenceOf`, in code with barriers: where lanes cannot be at two of them at the same time, those that go on are
 * all that there are, whatever made them wait before. Of lanes at two barriers, which are released together, some may
 * have gone anywhere before the others go on.
 */
export function divergenceWithBarriers(
  graph: FlowGraph,
  options: DivergenceOptions,
  isDeparture: readonly boolean[],
  { all, released }: BarrierPlaces,
): Divergence {
  const alone = new Set(released);
  for (;;) {
    const excludes = (runs: number, waits: number): boolean => alone.has(runs) && (waits === runs || !all.has(waits));
    const found = divergenceOf(graph, { ...options, excludes }, isDeparture);
    let isMixed = false;
    for (const block of all) {
      for (const other of found.waiting(block)) {
        if (other === block || !all.has(other)) continue;
        for (const mixed of [block, other]) isMixed = alone.delete(mixed) || isMixed;
      }
    }
    if (!isMixed) return found;
  }
}
