import type { UniformityAnalysis } from "../values/uniformity.ts";
import { slotsFor, type Interval } from "./interval-coloring.ts";

/** Pairs of blocks that are looked at, at most. */
const maxPairs = 0x10_0000;

/**
 * By block at which lanes may wait, the blocks that lanes go through meanwhile; null where it would take too long to
 * tell. `always`: blocks at which lanes may wait at any time.
 */
export function waitMaskIntervals(
  { divergence, code }: Pick<UniformityAnalysis, "divergence" | "code">,
  waiting: Iterable<number>,
  always: ReadonlySet<number>,
): ReadonlyMap<number, Interval> | null {
  const { blocks } = code.graph;
  const spans = new Map<number, Interval>();
  for (const w of waiting) spans.set(w, always.has(w) ? { from: 0, to: blocks.length } : { from: w, to: w });
  let pairs = 0;
  for (const { index, successors } of blocks) {
    const others = divergence.waiting(index);
    pairs += others.size;
    if (pairs > maxPairs) return null;
    for (const w of others) extend(spans.get(w), index);
    for (const s of successors) extend(spans.get(s), index);
  }
  return spans;
}

function extend(span: Interval | undefined, block: number): void {
  if (span === undefined) return;
  span.from = Math.min(span.from, block);
  span.to = Math.max(span.to, block);
}

/**
 * By block, the number of the mask in which it keeps the lanes that wait there. Blocks share one if at no time lanes
 * wait at both of them.
 */
export function waitMaskSlots(
  analysis: Pick<UniformityAnalysis, "divergence" | "code">,
  waiting: readonly number[],
  always: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const spans = waitMaskIntervals(analysis, waiting, always);
  const places = spans === null ? null : slotsFor(waiting.map((w) => spans.get(w)!));
  return new Map(waiting.map((w, i) => [w, places?.[i] ?? i]));
}
