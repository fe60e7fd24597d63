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
 * `divergenceOf`, in code with barriers. Where lanes of a warp can only wait at one barrier at a time, it releases all
 * of them together, whatever made them wait before. Where they can wait at two, both release them at once, and the
 * lanes of one may run far ahead before those of the other go on: there nothing is assumed.
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
