import { BitSet } from "../../../../ir/flow/bit-set.ts";
import { type LoopRange, loopsOf } from "../../../../ir/flow/loops.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";
import type { Interval } from "./interval-coloring.ts";
import { waitMaskIntervals } from "./wait-mask-coloring.ts";

/**
 * Live intervals: by register, the blocks in which it holds a value that some lane may still read, whichever lanes run,
 * or in which it is touched at all. Null where it would take too long to find out. `suspensions`: blocks at which lanes
 * may wait at any time.
 */
export function registerIntervals(
  analysis: UniformityAnalysis,
  suspensions: ReadonlySet<number>,
): readonly Interval[] | null {
  const { ir, graph, liveness } = analysis.code;
  const intervals = ir.registers.map((): Interval => ({ from: graph.blocks.length, to: 0 }));
  const extend = (r: number, from: number, to: number): void => {
    const interval = intervals[r]!;
    if (from < interval.from) interval.from = from;
    if (to > interval.to) interval.to = to;
  };
  for (const { index } of graph.blocks) for (const r of liveness.touchedIn(index)) extend(r, index, index);
  const waiting = new Set([...suspensions, ...analysis.divergence.waitingAnywhere()]);
  const waits = waitMaskIntervals(analysis, waiting, suspensions);
  if (waits === null) return null;
  // Registers that are live in a block are needed from one block to another.
  const needs = [{ block: 0, from: 0, to: 0 }];
  for (const [block, { from, to }] of waits) if (block < graph.blocks.length) needs.push({ block, from, to });
  // A register that is live where a loop begins is live all around it.
  const todo: LoopRange[] = [...loopsOf(graph)];
  for (let loop = todo.pop(); loop !== undefined; loop = todo.pop()) {
    const { start, end, inner } = loop;
    needs.push({ block: start, from: start, to: end });
    for (const within of inner) todo.push(within);
  }
  // The first need that contains a register says where its interval begins, the last one where it ends.
  for (const order of [needs.toSorted((a, b) => a.from - b.from), needs.toSorted((a, b) => b.to - a.to)]) {
    const seen = new BitSet(ir.registers.length);
    for (const { block, from, to } of order) seen.unionNew(liveness.liveIn(block), (r) => extend(r, from, to));
  }
  return intervals;
}
