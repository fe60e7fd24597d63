import type { UniformityAnalysis } from "../values/uniformity.ts";
import { slotsFor, type Interval } from "./interval-coloring.ts";

/** The most pairs of blocks that are compared. */
const maxPairs = 0x10_0000;

/**
 * By block at which lanes may wait, the blocks that run meanwhile; null where it would take too long to find out.
 * `always`: blocks at which lanes may wait at any time.
 */
export function waitMaskIntervals(
  { divergence, code }: Pick<UniformityAnalysis, "divergence" | "code">,
  waiting: Iterable<number>,
  always: ReadonlySet<number>,
): ReadonlyMap<number, Interval> | null {
  const { blocks } = code.graph;
  const intervals = new Map<number, Interval>();
  for (const w of waiting) intervals.set(w, always.has(w) ? { from: 0, to: blocks.length } : { from: w, to: w });
  let pairs = 0;
  for (const { index, successors } of blocks) {
    const others = divergence.waiting(index);
    pairs += others.size;
    if (pairs > maxPairs) return null;
    for (const w of others) extend(intervals.get(w), index);
    for (const s of successors) extend(intervals.get(s), index);
  }
  return intervals;
}

function extend(interval: Interval | undefined, block: number): void {
  if (interval === undefined) return;
  interval.from = Math.min(interval.from, block);
  interval.to = Math.max(interval.to, block);
}

/**
 * By block, the number of its pending mask, which holds the lanes that wait there. Blocks share a mask if lanes never
 * wait at both at the same time.
 */
export function waitMaskSlots(
  analysis: Pick<UniformityAnalysis, "divergence" | "code">,
  waiting: readonly number[],
  always: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const intervals = waitMaskIntervals(analysis, waiting, always);
  const slots = intervals === null ? null : slotsFor(waiting.map((w) => intervals.get(w)!));
  return new Map(waiting.map((w, i) => [w, slots?.[i] ?? i]));
}
