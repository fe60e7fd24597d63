import { readsOf, writesOf } from "../ir/flow/accesses.ts";
import { type LoopRange, loopsOf } from "../ir/flow/loops.ts";
import type { Analysis } from "./analysis.ts";
import type { Span } from "./spans.ts";
import { waitingSpans } from "./waiting-masks.ts";

/** Steps of the search at most, at the places where lanes wait or loops begin. */
const mostLive = 0x1000_0000;

/**
 * By register, the blocks in which it holds what some lane may yet read, whichever lanes run, or in which it is touched at all. Null
 * where it would take too long to tell. `pauses`: blocks at which lanes may wait at any time.
 */
export function registerSpans(analysis: Analysis, pauses: ReadonlySet<number>): readonly Span[] | null {
  const { ir, graph, instructions, liveness } = analysis.code;
  const spans = ir.registers.map((): Span => ({ from: graph.blocks.length, to: 0 }));
  const extend = (r: number, from: number, to: number): void => {
    const span = spans[r]!;
    if (from < span.from) span.from = from;
    if (to > span.to) span.to = to;
  };
  for (const { index, start, end } of graph.blocks) {
    const register = (r: number): void => extend(r, index, index);
    for (let i = start; i < end; i++) {
      readsOf(instructions[i]!, { register });
      writesOf(instructions[i]!, register);
    }
  }
  let left = mostLive;
  const extendLive = (block: number, from: number, to: number): void => {
    liveness.liveIn(block).forEach((r) => {
      extend(r, from, to);
      left--;
    });
    left -= ir.registers.length >>> 5;
  };
  extendLive(0, 0, 0);
  const waiting = new Set(pauses);
  for (const { index } of graph.blocks) for (const w of analysis.divergence.waiting(index)) waiting.add(w);
  const waits = waitingSpans(analysis, waiting, pauses);
  if (waits === null) return null;
  for (const [w, { from, to }] of waits) {
    if (left < 0) return null;
    if (w < graph.blocks.length) extendLive(w, from, to);
  }
  // What is live where a loop begins is so all around it.
  const todo: LoopRange[] = [...loopsOf(graph)];
  for (let loop = todo.pop(); loop !== undefined; loop = todo.pop()) {
    if (left < 0) return null;
    extendLive(loop.start, loop.start, loop.end);
    todo.push(...loop.inner);
  }
  return spans;
}
