import type { Analysis } from "./analysis.ts";

/** Pairs of blocks that are looked at, at most: with more, every mask is kept apart. */
const mostPairs = 0x10_0000;

/**
 * The places in which blocks keep the masks of the lanes that wait there: numbers from 0, by block. Blocks share one if at no time
 * lanes wait at both of them; the host takes longer for every block the more locals there are. `always`: where lanes may begin to wait at
 * any time.
 */
export function waitingPlaces(
  { divergence, code }: Pick<Analysis, "divergence" | "code">,
  waiting: readonly number[],
  always: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const { blocks } = code.graph;
  /** From the first to the last block, in the layout, that lanes go through while others wait. */
  const spans = new Map(waiting.map((w) => [w, always.has(w) ? { from: 0, to: blocks.length } : { from: w, to: w }]));
  let pairs = 0;
  for (const { index, successors } of blocks) {
    const others = divergence.waiting(index);
    pairs += others.size;
    if (pairs > mostPairs) return new Map(waiting.map((w, i) => [w, i]));
    for (const w of [...others, ...successors]) {
      const span = spans.get(w);
      if (span === undefined) continue;
      span.from = Math.min(span.from, index);
      span.to = Math.max(span.to, index);
    }
  }
  const places = new Map<number, number>();
  /** Of each place, where the last that has it ends. */
  const ends: number[] = [];
  for (const [w, { from, to }] of [...spans].sort(([, a], [, b]) => a.from - b.from)) {
    const free = ends.findIndex((end) => end < from);
    const place = free < 0 ? ends.length : free;
    ends[place] = to;
    places.set(w, place);
  }
  return places;
}
