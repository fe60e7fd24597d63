import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowBlock, FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import type { BlockGraph } from "./block-layout.ts";

/** What lanes go through from the beginning, or from behind a barrier, to the barriers that come next. */
export interface BarrierRegion {
  /** The block with which it begins. */
  readonly start: number;
  readonly blocks: ReadonlySet<number>;
}

/** Code that lies in several phases is written several times: this many times as much as there is, at most. */
const maxGrowth = 3;

/**
 * The phases of a kernel: the first, and those behind barriers. `barriers`: by the block that ends with one, the block
 * behind. Null where they would make too much code.
 */
export function barrierRegionsOf(
  { graph, instructions }: PreparedCode,
  barriers: ReadonlyMap<number, number>,
): readonly [BarrierRegion, ...BarrierRegion[]] | null {
  let left = maxGrowth * instructions.length;
  const from = (start: number): BarrierRegion => {
    const phase = regionFrom(graph, start, barriers);
    for (const block of phase.blocks) left -= graph.blocks[block]!.end - graph.blocks[block]!.start;
    return phase;
  };
  const first = from(0);
  const phases: BarrierRegion[] = [];
  for (const start of [...new Set(barriers.values())].sort((a, b) => a - b)) {
    if (left < 0) return null;
    phases.push(from(start));
  }
  return left < 0 ? null : [first, ...phases];
}

function regionFrom({ blocks }: FlowGraph, start: number, barriers: ReadonlyMap<number, number>): BarrierRegion {
  const found = new Set([start]);
  for (const block of found) {
    if (barriers.has(block)) continue;
    for (const s of blocks[block]!.successors) if (s < blocks.length) found.add(s);
  }
  return { start, blocks: found };
}

/**
 * The phases in a row, from the first, that all chunks of a block go through one after the other: each ends at the
 * barrier with which the next begins and nowhere else, and nothing else comes to that barrier.
 */
export function rowOf(
  [first, ...others]: readonly [BarrierRegion, ...BarrierRegion[]],
  { graph, instructions }: PreparedCode,
  barriers: ReadonlyMap<number, number>,
): readonly BarrierRegion[] {
  const exitsOf = ({ blocks }: BarrierRegion): readonly (number | null)[] => {
    const exits = new Set<number | null>();
    for (const block of blocks) {
      const behind = barriers.get(block);
      const { successors, end } = graph.blocks[block]!;
      if (behind !== undefined) exits.add(behind);
      else if (instructions[end - 1]!.op.kind === "exit" || successors.some((s) => s >= graph.blocks.length))
        exits.add(null);
    }
    return [...exits];
  };
  const all = [first, ...others].map((phase) => ({ phase, exits: exitsOf(phase) }));
  const starting = new Map(all.slice(1).map((a) => [a.phase.start, a]));
  /** By barrier, the phases that come to it. */
  const coming = new Map<number | null, number>();
  for (const { exits } of all) for (const to of exits) coming.set(to, (coming.get(to) ?? 0) + 1);
  const row = [first];
  for (let last = all[0]; last?.exits.length === 1; ) {
    const to = last.exits[0] ?? -1;
    const next = starting.get(to);
    if (next === undefined || coming.get(to)! > 1) break;
    row.push(next.phase);
    last = next;
  }
  return row;
}

/** The blocks of a phase, with the ways between them. */
export function graphOf(
  graph: FlowGraph,
  { blocks }: BarrierRegion,
  barriers: ReadonlyMap<number, number>,
): BlockGraph {
  const isPassed = (block: number): boolean => blocks.has(block) && !barriers.has(block);
  const end = graph.blocks.length;
  const inPhase: Record<number, FlowBlock> = {};
  for (const b of blocks) {
    const { index, start, end: behind, successors, predecessors } = graph.blocks[b]!;
    inPhase[b] = {
      index,
      start,
      end: behind,
      successors: isPassed(b) ? successors.filter((s) => s === end || blocks.has(s)) : [],
      predecessors: predecessors.filter(isPassed),
    };
  }
  return { blocks: inPhase, count: end };
}

/** The registers that a phase reads or writes. */
export function touchedIn(
  { graph, instructions, liveness }: PreparedCode,
  { blocks }: BarrierRegion,
): { readonly touched: ReadonlySet<number>; readonly written: ReadonlySet<number> } {
  const [touched, written] = [new Set<number>(), new Set<number>()];
  const write = (r: number): void => {
    written.add(r);
  };
  for (const block of blocks) {
    for (const r of liveness.touchedIn(block)) touched.add(r);
    const { start, end } = graph.blocks[block]!;
    for (let i = start; i < end; i++) writesOf(instructions[i]!, write);
  }
  return { touched, written };
}
