import fc from "fast-check";
import { expect, test } from "vitest";
import {
  departuresOf,
  type Divergence,
  divergenceOf,
  type FlowGraph,
  flowGraphOf,
  livenessOf,
  readsOf,
  writesOf,
} from "../../../src/ir/flow/index.ts";
import type { Instruction, Register } from "../../../src/ir/index.ts";
import { slotsFor, type Interval } from "../../../src/jit/compile/analysis/flow/interval-coloring.ts";
import { registerIntervals } from "../../../src/jit/compile/analysis/flow/live-intervals.ts";
import type { UniformityAnalysis } from "../../../src/jit/compile/analysis/values/uniformity.ts";
import { randomCode, registerCount, runs } from "../../ir/flow/random-flow.ts";

const span = fc.tuple(fc.nat(20), fc.nat(20)).map(([a, b]): Interval => ({ from: Math.min(a, b), to: Math.max(a, b) }));

test("spans that meet have different places, of which there are as few as can be", () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 30 }), (spans) => {
      const places = slotsFor(spans);
      const at = (block: number): number[] => places.filter((_, i) => spans[i]!.from <= block && block <= spans[i]!.to);
      const atOnce = Array.from({ length: 21 }, (_, block) => at(block));
      for (const there of atOnce) expect(new Set(there).size).toBe(there.length);
      expect(new Set(places).size).toBe(Math.max(...atOnce.map((there) => there.length)));
    }),
    runs,
  );
});

const registers: Register[] = Array.from({ length: registerCount }, (_, i) => ({
  name: `%r${i}`,
  class: "b32",
  bits: 32,
}));

/**
 * Every state of two lanes of which the one at the lower block runs, and both where they meet: the block that runs and
 * the one where the other waits. `pauses`: where lanes may wait although others are higher.
 */
function statesOf(
  { blocks }: FlowGraph,
  isDeparture: readonly boolean[],
  pauses: ReadonlySet<number>,
): ReadonlyMap<string, readonly [runs: number, waits: number]> {
  const states = new Map<string, readonly [number, number]>();
  const isThere = (block: number): boolean => block < blocks.length && isDeparture[block] !== true;
  const add = (runs: number, waits: number): void => {
    if (isThere(runs)) states.set(`${runs} ${waits}`, [runs, waits]);
  };
  const meet = (a: number, b: number): void => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    add(low, high);
    if (isThere(high) && pauses.has(low)) add(high, low);
    if (!isThere(low)) add(high, low);
  };
  add(0, 0);
  for (const [runs, waits] of states.values()) {
    for (const s of blocks[runs]!.successors) {
      if (runs !== waits) meet(s, waits);
      else for (const t of blocks[runs]!.successors) meet(s, t);
    }
  }
  return states;
}

test("a register's span has every block that may run while a lane still needs it", () => {
  fc.assert(
    fc.property(randomCode(24), fc.subarray([1, 2, 3, 4, 5]), (code: readonly Instruction[], asked) => {
      const graph = flowGraphOf(code);
      const pauses = new Set(asked.filter((block) => block < graph.blocks.length));
      const liveness = livenessOf({ instructions: code, registers }, graph, []);
      const isDeparture = departuresOf(graph, code);
      const options = { divergent: () => true, stalls: (block: number) => pauses.has(block) };
      const divergence: Divergence = divergenceOf(graph, options, isDeparture);
      const analysis = { code: { ir: { registers }, graph, instructions: code, liveness }, divergence };
      const spans = registerIntervals(analysis as unknown as UniformityAnalysis, pauses)!;
      const expectIn = (r: number, block: number): void => {
        expect(spans[r]!.from).toBeLessThanOrEqual(block);
        expect(spans[r]!.to).toBeGreaterThanOrEqual(block);
      };
      for (const [runs, waits] of statesOf(graph, isDeparture, pauses).values()) {
        const { start, end } = graph.blocks[runs]!;
        const touch = (r: number): void => expectIn(r, runs);
        for (const instruction of code.slice(start, end)) {
          readsOf(instruction, { register: touch });
          writesOf(instruction, touch);
        }
        liveness.liveIn(runs).forEach(touch);
        if (waits < graph.blocks.length) liveness.liveIn(waits).forEach(touch);
      }
    }),
    runs,
  );
});
