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
  /** The same where lanes wait for others that are elsewhere, and go on together with those that come there. */
  readonly gathers?: (block: number) => boolean;
  /** Whether of a group that stands at the block's beginning, one that stalls, some lanes may go on and others stay. */
  readonly splits?: (block: number) => boolean;
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
const never = (): boolean => false;

/** Pairs of places after which the answer becomes a simple one: that lanes may be anywhere. */
const mostPairs = (blocks: number): number => 0x4_0000 + 4 * blocks;

/**
 * Follows every two lanes at once. Whichever lanes there are else, of two it is the lower that runs, and two at one place
 * run together: so that what two lanes can do is what any two of a warp can do, and the answer is exact for branches that
 * can go any way. The work is in proportion to the answer.
 */
export function divergenceOf(
  graph: FlowGraph,
  options: DivergenceOptions,
  isDeparture: readonly boolean[],
): Divergence {
  const pairs = new Pairs(graph, options, isDeparture);
  pairs.part();
  if (!pairs.follow()) return anywhere(isDeparture);
  const { waiting, partial } = pairs;
  for (const set of waiting) set?.delete(graph.blocks.length);
  return {
    mayBePartial: (block) => partial[block] === 1,
    waiting: (block) => waiting[block] ?? nobody,
  };
}

function anywhere(isDeparture: readonly boolean[]): Divergence {
  const places = new Set(isDeparture.flatMap((departs, block) => (departs ? [] : [block])));
  return { mayBePartial: () => true, waiting: () => places };
}

/** Where two lanes that are not at one place may be. The number of blocks stands for being gone. */
class Pairs {
  /** By the block that runs, those at which the other lane may wait. */
  readonly waiting: (Set<number> | undefined)[] = [];
  readonly partial: Uint8Array;
  readonly #graph: FlowGraph;
  readonly #options: Required<DivergenceOptions>;
  readonly #isDeparture: readonly boolean[];
  /** Pairs that have yet to be followed: who runs, who waits. */
  readonly #todo: number[] = [];
  #count = 0;

  constructor(graph: FlowGraph, options: DivergenceOptions, isDeparture: readonly boolean[]) {
    this.#graph = graph;
    this.#options = { stalls: never, gathers: never, splits: never, loses: never, ...options };
    this.#isDeparture = isDeparture;
    this.partial = new Uint8Array(graph.blocks.length);
  }

  /** Follows the ways that two lanes can go together, and notes where they can part. */
  part(): void {
    const { blocks } = this.#graph;
    const { divergent, stalls, splits, loses } = this.#options;
    const end = blocks.length;
    const seen = new Uint8Array(end + 1);
    seen[end] = 1;
    const todo = end === 0 ? [] : [0];
    seen[0] = 1;
    for (let b = todo.pop(); b !== undefined; b = todo.pop()) {
      const { successors } = blocks[b]!;
      const parts = divergent(b);
      if (splits(b)) this.#wait(b, b);
      for (const s of successors) {
        if (loses(b)) this.#meet(s, end);
        if (parts) for (const t of successors) if (s < t) this.#meet(s, t);
        if (parts && s < end && !this.#isDeparture[s] && stalls(s)) this.#wait(s, s);
        if (seen[s] === 1) continue;
        seen[s] = 1;
        todo.push(s);
      }
    }
  }

  /** Follows the lanes that have parted. False when there are too many pairs of places. */
  follow(): boolean {
    const { blocks } = this.#graph;
    const { loses } = this.#options;
    const most = mostPairs(blocks.length);
    for (let waits = this.#todo.pop(); waits !== undefined; waits = this.#todo.pop()) {
      const runs = this.#todo.pop()!;
      this.partial[runs] = 1;
      for (const s of blocks[runs]!.successors) this.#meet(s, waits);
      if (loses(runs)) this.#meet(blocks.length, waits);
      if (this.#count > most) return false;
    }
    return true;
  }

  /** One lane has come to `a` while another is at `b`. */
  #meet(a: number, b: number): void {
    const { stalls, gathers } = this.#options;
    const end = this.#graph.blocks.length;
    if (this.#isDeparture[a] === true) this.#depart(a, b);
    if (this.#isDeparture[b] === true) this.#depart(b, a);
    const x = this.#isDeparture[a] === true ? end : a;
    const y = this.#isDeparture[b] === true ? end : b;
    const low = Math.min(x, y);
    const high = Math.max(x, y);
    if (low !== high) this.#wait(low, high);
    if (high < end && (stalls(low) || (low < high && gathers(low)))) this.#wait(high, low);
  }

  /** A lane leaves at a block that does nothing else, while another is at `other`. */
  #depart(block: number, other: number): void {
    this.partial[block] = 1;
    if (other === this.#graph.blocks.length || this.#isDeparture[other] === true) return;
    (this.waiting[block] ??= new Set()).add(other);
  }

  #wait(runs: number, waits: number): void {
    this.waiting[runs] ??= new Set();
    const set = this.waiting[runs];
    if (set.has(waits)) return;
    set.add(waits);
    this.#count++;
    this.#todo.push(runs, waits);
  }
}

/** By block, whether lanes that come to it only leave the function: it does not matter when they do, so none waits there. */
export function departuresOf({ blocks }: FlowGraph, instructions: readonly Instruction[]): readonly boolean[] {
  return blocks.map(({ start, end }) => {
    const { op, guard, lanes } = instructions[start]!;
    return end === start + 1 && guard === null && lanes === undefined && (op.kind === "return" || op.kind === "exit");
  });
}
