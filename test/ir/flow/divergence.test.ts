import fc from "fast-check";
import { expect, test } from "vitest";
import { departuresOf, divergenceOf, flowGraphOf } from "../../../src/ir/flow/index.ts";
import type { DivergenceOptions, FlowGraph } from "../../../src/ir/flow/index.ts";
import { randomCode, runs } from "./random-flow.ts";

/** Lanes at one place, which run together. */
interface Group {
  readonly at: number;
  readonly lanes: number;
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

/**
 * Runs three lanes in every way that there is: a group goes through its block as a whole, at the end of a divergent one
 * each lane where it likes. Of the groups the lowest runs, but past those at places that stall or gather. Groups at one
 * place become one; where it stalls, they may also stay apart. Where it splits, some lanes of a group may stay. Where
 * all are needed, others than all go no further.
 */
function observe(graph: FlowGraph, options: Required<DivergenceOptions>, isDeparture: readonly boolean[]): Observed {
  const { blocks } = graph;
  const end = blocks.length;
  const observed: Observed = { partial: new Set(), waiting: new Set() };
  const note = (runs: number, others: readonly Group[], lanes: number): void => {
    if (lanes !== everyone) observed.partial.add(runs);
    for (const { at } of others) observed.waiting.add(`${runs}/${at}`);
  };
  const { divergent, stalls, joinsOthers, splits, exitsInside, needsAll } = options;

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
          other.at === g.at ? [state.with(i, { at: g.at, lanes: g.lanes | other.lanes })] : [],
        );
        return met.length === 0 || stalls(g.at) ? [...met, [...state, g]] : met;
      });
    }
    return states;
  };

  const seen = new Set<string>();
  const todo: Group[][] = [];
  const visit = (state: Group[]): void => {
    const sorted = state.toSorted((a, b) => a.at - b.at || a.lanes - b.lanes);
    const key = JSON.stringify(sorted);
    if (seen.has(key)) return;
    seen.add(key);
    todo.push(sorted);
  };
  if (isDeparture[0] !== true) visit([{ at: 0, lanes: everyone }]);
  for (let state = todo.pop(); state !== undefined; state = todo.pop()) {
    for (const [i, group] of state.entries()) {
      const others = state.toSpliced(i, 1);
      if (others.some(({ at }) => at < group.at && !stalls(at) && !joinsOthers(at))) continue;
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
          for (const way of ways) for (const next of settle(elsewhere, way)) visit(next);
        }
      }
    }
  }
  return observed;
}

function check(most: number, stalling: boolean, numRuns: number): void {
  const bits = fc.array(fc.boolean(), { minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(randomCode(most), bits, bits, bits, bits, (code, divergent, stalls, more, exitsInside) => {
      const graph = flowGraphOf(code);
      const departures = departuresOf(graph, code);
      const options = {
        divergent: (b: number) => divergent[b] === true,
        stalls: (b: number) => stalling && stalls[b] === true,
        splits: (b: number) => stalling && stalls[b] === true && more[b] === true && departures[b] !== true,
        joinsOthers: (b: number) => stalling && stalls[b] !== true && more[b] === true,
        exitsInside: (b: number) => stalling && exitsInside[b] === true && exitsInside[b + 1] === true,
        needsAll: (b: number) => divergent[b + 16] === true && more[b + 16] === true,
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
