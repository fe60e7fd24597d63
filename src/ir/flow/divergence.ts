import type { Instruction } from "../instruction.ts";
import type { FlowGraph } from "./flow-graph.ts";

/** What the analysis is told of the code. */
export interface DivergenceOptions {
  /** Whether the block's last instruction can send lanes of a group to different places. */
  readonly divergent: (block: number) => boolean;
  /**
   * Whether lanes that stand at the block's beginning may have to wait there although they are at the lowest place: for a
   * barrier, because they have given way. Default: never. A group that comes there as a whole stays whole, unless the
   * block that it comes from is divergent.
   */
  readonly stalls?: (block: number) => boolean;
  /** Whether lanes of a group may end within the block other than by its edges (a callee exits). Default: never. */
  readonly loses?: (block: number) => boolean;
}

/** Where lanes of a warp can be at the same time, when those at the lowest place run first and lanes that meet go on together. */
export interface Divergence {
  /** Whether lanes with which the group began may be elsewhere, or gone, while the block runs. */
  mayBePartial(block: number): boolean;
  /** The blocks at whose beginning other lanes may wait while this one runs. */
  waiting(block: number): ReadonlySet<number>;
}

const nobody: ReadonlySet<number> = new Set();

/**
 * Follows every two lanes at once. Whichever lanes there are else, of two it is the lower that runs, and two at one place
 * run together: so that what two lanes can do is what any two of a warp can do, and the answer is exact for branches that
 * can go any way. The work is in proportion to the answer; where that is very large, it is replaced by a simpler one.
 */
export function divergenceOf(
  graph: FlowGraph,
  options: DivergenceOptions,
  isDeparture: readonly boolean[],
): Divergence {
  const { blocks } = graph;
  const end = blocks.length;
  const { divergent, stalls = () => false, loses = () => false } = options;
  const waiting: (Set<number> | undefined)[] = [];
  const partial = new Uint8Array(end);
  /** Pairs that have yet to be followed: who runs, who waits. */
  const pairs: number[] = [];
  const place = (b: number): number => (isDeparture[b] === true ? end : b);

  const wait = (runs: number, waits: number): void => {
    let set = waiting[runs];
    if (set === undefined) waiting[runs] = set = new Set();
    if (set.has(waits)) return;
    set.add(waits);
    pairs.push(runs, waits);
  };
  /** One lane goes on to `a` while another is at `b`. */
  const meet = (a: number, b: number): void => {
    if (isDeparture[a]) depart(a, b);
    if (isDeparture[b]) depart(b, a);
    const x = place(a);
    const y = place(b);
    if (x === y) {
      if (x < end && stalls(x)) wait(x, x);
      return;
    }
    const low = Math.min(x, y);
    const high = Math.max(x, y);
    wait(low, high);
    if (high < end && stalls(low)) wait(high, low);
  };
  /** A lane passes a block that only leaves, while another is elsewhere. */
  const depart = (a: number, b: number): void => {
    partial[a] = 1;
    if (b < end && b !== a) (waiting[a] ??= new Set()).add(b);
  };

  const together = new Uint8Array(end + 1);
  const todo = end === 0 ? [] : [0];
  together[0] = 1;
  for (let b = todo.pop(); b !== undefined; b = todo.pop()) {
    const { successors } = blocks[b]!;
    for (const s of successors) {
      if (loses(b)) meet(s, end);
      if (divergent(b)) {
        if (s < end && stalls(s)) wait(s, s);
        for (const t of successors) if (s < t) meet(s, t);
      }
      if (s === end || together[s] === 1) continue;
      together[s] = 1;
      todo.push(s);
    }
  }
  for (let waits = pairs.pop(); waits !== undefined; waits = pairs.pop()) {
    const runs = pairs.pop()!;
    partial[runs] = 1;
    for (const s of blocks[runs]!.successors) meet(s, waits);
    if (loses(runs)) meet(end, waits);
  }
  for (const set of waiting) set?.delete(end);
  return {
    mayBePartial: (block) => partial[block] === 1,
    waiting: (block) => waiting[block] ?? nobody,
  };
}

/** By block, whether lanes that come to it only leave the function: it does not matter when they do, so none waits there. */
export function departuresOf({ blocks }: FlowGraph, instructions: readonly Instruction[]): readonly boolean[] {
  return blocks.map(({ start, end }) => {
    const { op, guard, lanes } = instructions[start]!;
    return end === start + 1 && guard === null && lanes === undefined && (op.kind === "return" || op.kind === "exit");
  });
}
