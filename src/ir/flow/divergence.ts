import type { Instruction } from "../instruction.ts";
import { controlOf } from "../op-traits.ts";
import type { FlowGraph } from "./flow-graph.ts";

/** Properties of the code that the analysis depends on. */
export interface DivergenceOptions {
  /** Whether the block's last instruction can send lanes of a group to different places. */
  readonly divergent: (block: number) => boolean;
  /**
   * Whether lanes at the block's beginning may have to wait there although they are at the lowest place: for a barrier,
   * or because they have given way. Default: never. A group that arrives whole stays whole, unless the block that it
   * comes from is divergent.
   */
  readonly stalls?: (block: number) => boolean;
  /** Whether lanes wait there for lanes at other places, and go on together with those that arrive. Default: never. */
  readonly joinsOthers?: (block: number) => boolean;
  /**
   * Whether a group that stalls at the block's beginning may go on in some lanes and stay in others. Default: never.
   */
  readonly splits?: (block: number) => boolean;
  /** Whether lanes may end within the block other than by its edges (a callee exits). Default: never. */
  readonly exitsInside?: (block: number) => boolean;
  /** Whether the launch ends at the block's beginning unless all lanes of the group are there. Default: never. */
  readonly needsAll?: (block: number) => boolean;
  /** Whether no lane can begin the block `runs` while another waits at the block `waits`. Default: never. */
  readonly excludes?: (runs: number, waits: number) => boolean;
}

/**
 * Where the lanes of a warp can be at the same time, if those at the lowest place run first and lanes at one place run
 * together.
 */
export interface Divergence {
  /** Whether the analysis has given up: all answers are the same, that lanes may be anywhere. */
  readonly isUnknown: boolean;
  /** Whether lanes with which the group began may be at other places, or gone, while the block runs. */
  mayBePartial(block: number): boolean;
  /** The blocks at whose beginning other lanes may wait while this one runs. */
  waiting(block: number): ReadonlySet<number>;
  /** The blocks at whose beginning lanes may wait while any other runs. */
  waitingAnywhere(): ReadonlySet<number>;
}

const none: ReadonlySet<number> = new Set();
const never = (): boolean => false;

const usual: Required<Omit<DivergenceOptions, "divergent">> = {
  stalls: never,
  joinsOthers: never,
  splits: never,
  exitsInside: never,
  needsAll: never,
  excludes: never,
};

/** The number of pairs of places beyond which the analysis gives up and answers that lanes may be anywhere. */
const maxPairs = (blocks: number): number => 0x4_0000 + 4 * blocks;

/**
 * Follows every pair of lanes. Of two lanes, the one at the lower place runs, whatever other lanes there are, and two
 * at one place run together; so what two lanes can do alone is what any two lanes of a warp can do, and the answer is
 * exact if branches can go either way. The work is proportional to the size of the answer.
 */
export function divergenceOf(
  graph: FlowGraph,
  options: DivergenceOptions,
  isDeparture: readonly boolean[],
): Divergence {
  const pairs = new Pairs(graph, options, isDeparture);
  if (!pairs.diverge() || !pairs.follow()) return anywhere(isDeparture);
  const { waiting, partial } = pairs;
  for (const set of waiting) set?.delete(graph.blocks.length);
  let places: Set<number> | null = null;
  return {
    isUnknown: false,
    mayBePartial: (block) => partial[block] === 1,
    waiting: (block) => waiting[block] ?? none,
    waitingAnywhere: () => {
      if (places === null) {
        places = new Set();
        for (const set of waiting) for (const block of set ?? none) places.add(block);
      }
      return places;
    },
  };
}

function anywhere(isDeparture: readonly boolean[]): Divergence {
  const places = new Set(isDeparture.flatMap((departs, block) => (departs ? [] : [block])));
  return { isUnknown: true, mayBePartial: () => true, waiting: () => places, waitingAnywhere: () => places };
}

/** The places at which two diverged lanes may be. The number of blocks stands for having ended. */
class Pairs {
  /** For each block that one lane runs, the blocks at which the other may wait. */
  readonly waiting: (Set<number> | undefined)[] = [];
  readonly partial: Uint8Array;
  readonly #graph: FlowGraph;
  readonly #options: Required<DivergenceOptions>;
  readonly #isDeparture: readonly boolean[];
  /** Pairs to be followed yet, flattened: the block that runs, the block that waits. */
  readonly #todo: number[] = [];
  readonly #max: number;
  #count = 0;

  constructor(graph: FlowGraph, options: DivergenceOptions, isDeparture: readonly boolean[]) {
    this.#graph = graph;
    this.#options = { ...usual, ...options };
    this.#isDeparture = isDeparture;
    this.partial = new Uint8Array(graph.blocks.length);
    this.#max = maxPairs(graph.blocks.length);
  }

  /**
   * Follows the paths that two lanes can take together, and notes where they can diverge. False if there are too many
   * pairs of places.
   */
  diverge(): boolean {
    const { blocks } = this.#graph;
    const { divergent, stalls, splits, exitsInside } = this.#options;
    const end = blocks.length;
    const seen = new Uint8Array(end + 1);
    seen[end] = 1;
    const todo = end === 0 ? [] : [0];
    seen[0] = 1;
    for (let b = todo.pop(); b !== undefined; b = todo.pop()) {
      const { successors } = blocks[b]!;
      const diverges = divergent(b);
      if (splits(b)) this.#wait(b, b);
      for (const s of successors) {
        if (exitsInside(b)) this.#note(s, end);
        if (diverges) for (const t of successors) if (s < t) this.#note(s, t);
        if (this.#count > this.#max) return false;
        if (diverges && s < end && !this.#isDeparture[s] && stalls(s)) this.#wait(s, s);
        if (seen[s] === 1) continue;
        seen[s] = 1;
        todo.push(s);
      }
    }
    return true;
  }

  /** Follows lanes that have diverged. False if there are too many pairs of places. */
  follow(): boolean {
    const { blocks } = this.#graph;
    const { exitsInside, needsAll } = this.#options;
    for (let waits = this.#todo.pop(); waits !== undefined; waits = this.#todo.pop()) {
      const runs = this.#todo.pop()!;
      this.partial[runs] = 1;
      if (needsAll(runs)) continue;
      for (const s of blocks[runs]!.successors) this.#note(s, waits);
      if (exitsInside(runs)) this.#note(blocks.length, waits);
      if (this.#count > this.#max) return false;
    }
    return true;
  }

  /** Notes that one lane has reached `a` while another is at `b`. */
  #note(a: number, b: number): void {
    const { stalls, joinsOthers } = this.#options;
    const end = this.#graph.blocks.length;
    if (this.#isDeparture[a] === true) this.#depart(a, b);
    if (this.#isDeparture[b] === true) this.#depart(b, a);
    const x = this.#isDeparture[a] === true ? end : a;
    const y = this.#isDeparture[b] === true ? end : b;
    const low = Math.min(x, y);
    const high = Math.max(x, y);
    if (low !== high) this.#wait(low, high);
    if (high < end && (stalls(low) || (low < high && joinsOthers(low)))) this.#wait(high, low);
  }

  /** Notes that a lane leaves, at a block that does nothing else, while another is at `other`. */
  #depart(block: number, other: number): void {
    this.partial[block] = 1;
    if (other === this.#graph.blocks.length || this.#isDeparture[other] === true) return;
    (this.waiting[block] ??= new Set()).add(other);
  }

  #wait(runs: number, waits: number): void {
    if (waits < this.#graph.blocks.length && this.#options.excludes(runs, waits)) return;
    this.waiting[runs] ??= new Set();
    const set = this.waiting[runs];
    if (set.has(waits)) return;
    set.add(waits);
    this.#count++;
    this.#todo.push(runs, waits);
  }
}

/** By block, whether it does nothing but leave the function. It does not matter when lanes do, so none waits there. */
export function departuresOf({ blocks }: FlowGraph, instructions: readonly Instruction[]): readonly boolean[] {
  return blocks.map(({ start, end }) => {
    const { op, guard, lanes } = instructions[start]!;
    return end === start + 1 && guard === null && lanes === undefined && controlOf(op) === "leave";
  });
}
