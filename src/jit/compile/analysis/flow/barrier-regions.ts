import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { FlowBlock, FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, OpOf } from "../../../../ir/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";
import type { BlockGraph } from "./block-layout.ts";

/** The blocks that lanes may execute from the beginning, or from a barrier, to the barriers that come next. */
export interface BarrierRegion {
  /** Its first block. */
  readonly start: number;
  readonly blocks: ReadonlySet<number>;
}

/** A block that lies in several regions is written several times: code may grow to this many times its size. */
export const maxGrowth = 3;

/**
 * The barrier regions of a kernel: the first, and those after barriers; null where they would make too much code.
 * `barriers`: by block that ends with one, the block after it.
 */
export function barrierRegionsOf(
  { graph, instructions }: PreparedCode,
  barriers: ReadonlyMap<number, number>,
): readonly [BarrierRegion, ...BarrierRegion[]] | null {
  let left = maxGrowth * instructions.length;
  const from = (start: number): BarrierRegion => {
    const region = regionFrom(graph, start, barriers);
    for (const block of region.blocks) left -= graph.blocks[block]!.end - graph.blocks[block]!.start;
    return region;
  };
  const first = from(0);
  const others: BarrierRegion[] = [];
  for (const start of [...new Set(barriers.values())].sort((a, b) => a - b)) {
    if (left < 0) return null;
    others.push(from(start));
  }
  return left < 0 ? null : [first, ...others];
}

/** The region that begins with a block. */
export function regionFrom({ blocks }: FlowGraph, start: number, barriers: ReadonlyMap<number, number>): BarrierRegion {
  const found = new Set([start]);
  for (const block of found) {
    if (barriers.has(block)) continue;
    for (const s of blocks[block]!.successors) if (s < blocks.length) found.add(s);
  }
  return { start, blocks: found };
}

/**
 * The regions, from the first on, that all chunks of a block go through one after the other: each ends at the barrier
 * with which the next one begins and nowhere else, and no other region ends at that barrier.
 */
export function rowOf(
  [first, ...others]: readonly [BarrierRegion, ...BarrierRegion[]],
  { graph, instructions }: PreparedCode,
  barriers: ReadonlyMap<number, number>,
): readonly BarrierRegion[] {
  const exitsOf = ({ blocks }: BarrierRegion): readonly (number | null)[] => {
    const exits = new Set<number | null>();
    for (const block of blocks) {
      const after = barriers.get(block);
      const { successors, end } = graph.blocks[block]!;
      if (after !== undefined) exits.add(after);
      else if (instructions[end - 1]!.op.kind === "exit" || successors.some((s) => s >= graph.blocks.length))
        exits.add(null);
    }
    return [...exits];
  };
  const all = [first, ...others].map((region) => ({ region, exits: exitsOf(region) }));
  const starting = new Map(all.slice(1).map((a) => [a.region.start, a]));
  /** By barrier, how many regions end at it. */
  const endingAt = new Map<number | null, number>();
  for (const { exits } of all) for (const to of exits) endingAt.set(to, (endingAt.get(to) ?? 0) + 1);
  const row = [first];
  for (let last = all[0]; last?.exits.length === 1; ) {
    const to = last.exits[0] ?? -1;
    const next = starting.get(to);
    if (next === undefined || endingAt.get(to)! > 1) break;
    row.push(next.region);
    last = next;
  }
  return row;
}

/** The control-flow graph of a region: edges past its barriers are left out. */
export function graphOf(
  graph: FlowGraph,
  { blocks }: BarrierRegion,
  barriers: ReadonlyMap<number, number>,
): BlockGraph {
  const isPassed = (block: number): boolean => blocks.has(block) && !barriers.has(block);
  const end = graph.blocks.length;
  const inRegion: Record<number, FlowBlock> = {};
  for (const b of blocks) {
    const { successors, predecessors } = graph.blocks[b]!;
    inRegion[b] = {
      ...graph.blocks[b]!,
      successors: isPassed(b) ? successors.filter((s) => s === end || blocks.has(s)) : [],
      predecessors: predecessors.filter(isPassed),
    };
  }
  return { blocks: inRegion, count: end };
}

/** The registers that a region touches (reads or writes), and those that it writes. */
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

/** Whether all lanes of a chunk arrive at a barrier together, or none. `barrier`: the block that ends with it. */
export function isUniformBarrier({ code, divergence }: UniformityAnalysis, barrier: number): boolean {
  const { guard } = code.instructions[code.graph.blocks[barrier]!.end - 1]!;
  return guard === null && !divergence.mayBePartial(barrier);
}

/** A barrier that reduces predicates. */
type Reduction = Instruction & { readonly op: OpOf<"barrier"> };

type Blocks = Pick<PreparedCode, "graph" | "instructions">;

/** The barrier with which a block ends, if it reduces predicates. */
export function reductionIn({ graph, instructions }: Blocks, block: number): Reduction | null {
  const last = instructions[graph.blocks[block]!.end - 1]!;
  const { op } = last;
  return op.kind === "barrier" && op.reduce !== null ? { ...last, op } : null;
}

/** The same for the one before a block. `barriers`: by block that ends with one, the block after it. */
export function reductionBefore(code: Blocks, barriers: ReadonlyMap<number, number>, at: number): Reduction | null {
  for (const [block, after] of barriers) {
    const found = after === at ? reductionIn(code, block) : null;
    if (found !== null) return found;
  }
  return null;
}
