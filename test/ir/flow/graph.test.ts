import fc from "fast-check";
import { expect, test } from "vitest";
import { dominatorsOf, flowGraphOf, type LoopRange, loopsOf, postDominatorsOf } from "../../../src/ir/flow/index.ts";
import type { FlowGraph } from "../../../src/ir/flow/index.ts";
import { nextOf, randomCode, reachable, runs } from "./random-flow.ts";

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

test("blocks are a partition, and lanes move between them as between instructions", () => {
  fc.assert(
    fc.property(randomCode(20), (code) => {
      const graph = flowGraphOf(code);
      const { blocks } = graph;
      let at = 0;
      for (const { index, start, end, successors, predecessors } of blocks) {
        expect([start, end > start]).toEqual([at, true]);
        at = end;
        const inside = range(start, end);
        expect(inside.map((i) => graph.blockAt(i))).toEqual(inside.map(() => index));
        expect(inside.slice(1).map((i) => nextOf(code, i - 1))).toEqual(inside.slice(1).map((i) => [i]));
        const targets = nextOf(code, end - 1);
        expect(targets.map((t) => blocks[graph.blockAt(t)]?.start ?? code.length)).toEqual(targets);
        expect([...successors].sort((a, b) => a - b)).toEqual(targets.map((t) => graph.blockAt(t)));
        expect(predecessors).toEqual(blocks.filter((b) => b.successors.includes(index)).map((b) => b.index));
      }
      expect(at).toBe(code.length);
      expect(graph.blockAt(code.length)).toBe(blocks.length);
    }),
    runs,
  );
});

/**
 * By node, the strict dominator that all others dominate, from the definition: without it there is no way from the
 * root.
 */
function immediateByDefinition(root: number, count: number, next: (x: number) => readonly number[]): number[] {
  const all = reachable(root, next);
  const without = Array.from({ length: count }, (_, x) => reachable(root, next, x));
  return Array.from({ length: count }, (_, x) => {
    if (!all.has(x) || x === root) return -1;
    const strict = [...all].filter((d) => d !== x && !without[d]!.has(x));
    return strict.find((d) => strict.every((other) => other === d || !without[other]!.has(d)))!;
  });
}

const withoutEnd = ({ blocks }: FlowGraph) => {
  const end = blocks.length;
  return (x: number): readonly number[] => blocks[x]!.successors.filter((s) => s !== end);
};

test("immediate dominators", () => {
  fc.assert(
    fc.property(randomCode(24), (code) => {
      const graph = flowGraphOf(code);
      expect([...dominatorsOf(graph)]).toEqual(immediateByDefinition(0, graph.blocks.length, withoutEnd(graph)));
    }),
    runs,
  );
});

test("immediate post-dominators, where endless loops may end anywhere", () => {
  fc.assert(
    fc.property(randomCode(24), (code) => {
      const graph = flowGraphOf(code);
      const { blocks } = graph;
      const end = blocks.length;
      const next = (x: number): readonly number[] => blocks[x]?.successors ?? [];
      const endless = blocks.filter((b) => !reachable(b.index, next).has(end)).map((b) => b.index);
      const before = (x: number): readonly number[] =>
        x < end
          ? blocks[x]!.predecessors
          : [...blocks.filter((b) => b.successors.includes(end)).map((b) => b.index), ...endless];
      expect([...postDominatorsOf(graph)]).toEqual(immediateByDefinition(end, end + 1, before).slice(0, end));
    }),
    runs,
  );
});

const flat = (ranges: readonly LoopRange[]): LoopRange[] => ranges.flatMap((r) => [r, ...flat(r.inner)]);

/** Extends crossing ranges until none is left. */
function loopsByFixpoint({ blocks }: FlowGraph): { start: number; end: number }[] {
  const ranges = blocks.flatMap(({ index, predecessors }) => {
    const sources = predecessors.filter((p) => p >= index);
    return sources.length === 0 ? [] : [{ start: index, end: Math.max(...sources) }];
  });
  const crossing = () =>
    ranges
      .flatMap((a) => ranges.map((b) => ({ a, b })))
      .find(({ a, b }) => a.start < b.start && b.start <= a.end && a.end < b.end);
  for (let found = crossing(); found !== undefined; found = crossing()) found.a.end = found.b.end;
  return ranges;
}

test("ranges of loops are the least that nest", () => {
  const nests = (outer: LoopRange): boolean =>
    outer.inner.every((r) => r.start > outer.start && r.end <= outer.end && nests(r));
  fc.assert(
    fc.property(randomCode(40), (code) => {
      const graph = flowGraphOf(code);
      const loops = loopsOf(graph);
      expect(loops.every(nests)).toBe(true);
      expect(flat(loops).map(({ start, end }) => ({ start, end }))).toEqual(loopsByFixpoint(graph));
    }),
    runs,
  );
});
