import fc from "fast-check";
import { expect, test } from "vitest";
import { divergenceWithBarriers } from "../../../src/ir/flow/barrier-meetings.ts";
import { departuresOf, divergenceOf, flowGraphOf } from "../../../src/ir/flow/index.ts";
import type { DivergenceOptions, FlowGraph } from "../../../src/ir/flow/index.ts";
import { randomCode, runs } from "./random-flow.ts";

/** Lanes at one place, which run together. */
interface Group {
  readonly at: number;
  readonly lanes: number;
  /** Whether a barrier holds them. */
  readonly held?: boolean;
}

interface Observed {
  readonly partial: Set<number>;
  /** As "block that runs/block where a lane waits". */
  readonly waiting: Set<string>;
}

const laneCount = 3;
const everyone = 2 ** laneCount - 1;

/** All ways to give each lane of a mask one of the places. */
function scatter(lanes: number, places: readonly number[]): Group[][] {
  if (lanes === 0) return [[]];
  const lane = lanes & -lanes;
  return scatter(lanes & ~lane, places).flatMap((rest) => places.map((at) => [...rest, { at, lanes: lane }]));
}

/** Groups that barriers release: those at one place are one. */
function together(groups: readonly Group[]): Group[] {
  const lanes = new Map<number, number>();
  for (const { at, lanes: more } of groups) lanes.set(at, (lanes.get(at) ?? 0) | more);
  return [...lanes].map(([at, all]) => ({ at, lanes: all }));
}

/**
 * Runs three lanes in every way that there is: a group goes through its block as a whole, at the end of a divergent one
 * each lane where it likes. Of the groups the lowest runs, but past those at places that stall or gather. Groups at one
 * place become one; where it stalls, they may also stay apart. Where it splits, some lanes of a group may stay. Where
 * all are needed, others than all go no further. A group does not run while one is where the block excludes it.
 * Before blocks of which `isBarrier` holds, groups are held until all are.
 */
function observe(
  graph: FlowGraph,
  options: Required<DivergenceOptions>,
  isDeparture: readonly boolean[],
  isBarrier: (block: number) => boolean = () => false,
): Observed {
  const { blocks } = graph;
  const end = blocks.length;
  const observed: Observed = { partial: new Set(), waiting: new Set() };
  const note = (runs: number, others: readonly Group[], lanes: number): void => {
    if (lanes !== everyone) observed.partial.add(runs);
    for (const { at } of others) observed.waiting.add(`${runs}/${at}`);
  };
  const { divergent, stalls, joinsOthers, splits, exitsInside, needsAll, excludes } = options;

  /** The states that come of groups that have just arrived: those that leave have left, those that must have met. */
  const settle = (standing: readonly Group[], arriving: readonly Group[]): Group[][] => {
    const all = [...standing, ...arriving];
    const staying = all.filter(({ at }) => at !== end && isDeparture[at] !== true);
    for (const g of arriving) {
      if (g.at === end || isDeparture[g.at] !== true) continue;
      const lanes = all.filter(({ at }) => at === g.at).reduce((mask, x) => mask | x.lanes, 0);
      note(g.at, staying, lanes);
    }
    let states: Group[][] = [[]];
    for (const g of staying) {
      states = states.flatMap((state) => {
        const met = state.flatMap((other, i) =>
          other.at === g.at && other.held === g.held ? [state.with(i, { ...g, lanes: g.lanes | other.lanes })] : [],
        );
        return met.length === 0 || stalls(g.at) ? [...met, [...state, g]] : met;
      });
    }
    return states;
  };

  const seen = new Set<string>();
  const todo: Group[][] = [];
  const visit = (reached: Group[]): void => {
    const state = reached.every(({ held }) => held) ? together(reached) : reached;
    const sorted = state.toSorted((a, b) => a.at - b.at || a.lanes - b.lanes);
    const key = JSON.stringify(sorted);
    if (seen.has(key)) return;
    seen.add(key);
    todo.push(sorted);
  };
  if (isDeparture[0] !== true) visit([{ at: 0, lanes: everyone }]);
  for (let state = todo.pop(); state !== undefined; state = todo.pop()) {
    for (const [i, group] of state.entries()) {
      if (group.held === true) continue;
      const others = state.toSpliced(i, 1);
      if (others.some(({ at }) => at < group.at && !stalls(at) && !joinsOthers(at))) continue;
      if (others.some(({ at }) => excludes(group.at, at))) continue;
      const { successors } = blocks[group.at]!;
      for (let lost = 0; lost <= group.lanes; lost++) {
        if ((lost & ~group.lanes) !== 0 || (lost !== 0 && !exitsInside(group.at))) continue;
        for (let stays = 0; stays < group.lanes; stays++) {
          if ((stays & ~(group.lanes & ~lost)) !== 0 || (stays !== 0 && !splits(group.at))) continue;
          const left = group.lanes & ~lost & ~stays;
          const ways = divergent(group.at)
            ? scatter(left, successors)
            : left === 0
              ? [[]]
              : successors.map((at) => [{ at, lanes: left }]);
          const elsewhere = stays === 0 ? others : [...others, { at: group.at, lanes: stays }];
          note(group.at, elsewhere, group.lanes & ~stays);
          if (needsAll(group.at) && (group.lanes & ~stays) !== everyone) continue;
          for (const way of ways) {
            const arriving = way.map((g) => (isBarrier(g.at) ? { ...g, held: true } : g));
            for (const next of settle(elsewhere, arriving)) visit(next);
          }
        }
      }
    }
  }
  return observed;
}

function check(most: number, stalling: boolean, numRuns: number): void {
  const bits = fc.array(fc.boolean(), { minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(randomCode(most), bits, bits, bits, bits, bits, (code, divergent, stalls, more, exitsInside, meets) => {
      const graph = flowGraphOf(code);
      const departures = departuresOf(graph, code);
      const splits = (b: number): boolean =>
        stalling && stalls[b] === true && more[b] === true && departures[b] !== true;
      // Like barriers, which release lanes once all others are at one.
      const releases = (b: number): boolean =>
        stalling && stalls[b] === true && !splits(b) && meets[b] === true && meets[b + 16] === true;
      const options = {
        divergent: (b: number) => divergent[b] === true,
        stalls: (b: number) => stalling && stalls[b] === true,
        splits,
        joinsOthers: (b: number) => stalling && stalls[b] !== true && more[b] === true,
        exitsInside: (b: number) => stalling && exitsInside[b] === true && exitsInside[b + 1] === true,
        needsAll: (b: number) => divergent[b + 16] === true && more[b + 16] === true,
        excludes: (run: number, waits: number) => releases(run) && (waits === run || meets[waits] !== true),
      };
      const observed = observe(graph, options, departures);
      const divergence = divergenceOf(graph, options, departures);
      const partial = graph.blocks.map((b) => b.index).filter((b) => divergence.mayBePartial(b));
      const waiting = graph.blocks.flatMap((b) => [...divergence.waiting(b.index)].map((w) => `${b.index}/${w}`));
      expect(partial).toEqual([...observed.partial].sort((a, b) => a - b));
      expect(waiting.sort()).toEqual([...observed.waiting].sort());
    }),
    { ...runs, numRuns },
  );
}

test("lanes wait where three lanes that take every way do, and nowhere else", () => check(12, false, 600));

test("the same with places at which lanes may have to stay, and blocks in which they may end", () =>
  check(7, true, 400));

test("barriers at which lanes cannot be apart bring them together, whatever they have waited for before", () => {
  const bits = fc.array(fc.boolean(), { minLength: 32, maxLength: 32 });
  let kept = 0;
  fc.assert(
    fc.property(randomCode(7), bits, bits, bits, bits, (code, divergent, stalls, more, barriers) => {
      const graph = flowGraphOf(code);
      const departures = departuresOf(graph, code);
      const isBarrier = (b: number): boolean => b > 0 && barriers[b] === true && departures[b] !== true;
      const options = {
        divergent: (b: number) => divergent[b] === true,
        stalls: (b: number) => stalls[b] === true || isBarrier(b),
        splits: (b: number) => stalls[b] === true && more[b] === true && !isBarrier(b) && departures[b] !== true,
        joinsOthers: (b: number) => stalls[b] !== true && more[b] === true && !isBarrier(b),
        exitsInside: (b: number) => stalls[b + 16] === true && more[b + 16] === true,
        needsAll: () => false,
        excludes: () => false,
      };
      const all = new Set(graph.blocks.map(({ index }) => index).filter(isBarrier));
      const observed = observe(graph, options, departures, isBarrier);
      const found = divergenceWithBarriers(graph, options, departures, { all, released: all });
      for (const block of observed.partial) expect(found.mayBePartial(block), `${block} is partial`).toBe(true);
      for (const pair of observed.waiting) {
        const [runs, waits] = pair.split("/").map(Number);
        expect(found.waiting(runs!).has(waits!), pair).toBe(true);
      }
      const before = divergenceOf(graph, options, departures);
      const places = graph.blocks.flatMap(({ index }) => [...before.waiting(index)].map((w) => [index, w] as const));
      if (places.some(([runs, waits]) => !found.waiting(runs).has(waits))) kept++;
    }),
    { ...runs, numRuns: 400 },
  );
  expect(kept, "programs of which barriers tell something").toBeGreaterThan(10);
});
