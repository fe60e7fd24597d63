import type { Analysis } from "./analysis.ts";
import { placesOf, type Span } from "./spans.ts";

/** Pairs of blocks that are looked at, at most. */
const mostPairs = 0x10_0000;

/**
 * By block at which lanes may wait, the blocks that lanes go through meanwhile; null where it would take too long to tell.
 * `always`: blocks at which lanes may wait at any time.
 */
export function waitingSpans(
  { divergence, code }: Pick<Analysis, "divergence" | "code">,
  waiting: Iterable<number>,
  always: ReadonlySet<number>,
): ReadonlyMap<number, Span> | null {
  const { blocks } = code.graph;
  const spans = new Map<number, Span>();
  for (const w of waiting) spans.set(w, always.has(w) ? { from: 0, to: blocks.length } : { from: w, to: w });
  let pairs = 0;
  for (const { index, successors } of blocks) {
    const others = divergence.waiting(index);
    pairs += others.size;
    if (pairs > mostPairs) return null;
    for (const w of others) extend(spans.get(w), index);
    for (const s of successors) extend(spans.get(s), index);
  }
  return spans;
}

function extend(span: Span | undefined, block: number): void {
  if (span === undefined) return;
  span.from = Math.min(span.from, block);
  span.to = Math.max(span.to, block);
}

/**
 * By block, the number of the mask in which it keeps the lanes that wait there. Blocks share one if at no time lanes wait at both
 * of them.
 */
export function waitingMasks(
  analysis: Pick<Analysis, "divergence" | "code">,
  waiting: readonly number[],
  always: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const spans = waitingSpans(analysis, waiting, always);
  const places = spans === null ? null : placesOf(waiting.map((w) => spans.get(w)!));
  return new Map(waiting.map((w, i) => [w, places?.[i] ?? i]));
}
