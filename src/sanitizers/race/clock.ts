/**
 * A vector clock: for each thread of the grid, the time before which everything that it did is ordered before a point
 * of the run. It is a tree, like a grid: blocks by the digits of their number, then warps, then lanes; a number stands
 * for all below it. Threads that have synchronized mostly have the same times for others, so that trees are small. They
 * are immutable and share parts.
 */
export type Clock = number | readonly Clock[];

/** The later of two times for each thread. Returns one of the two trees itself if nothing in the other is later. */
export function join(a: Clock, b: Clock): Clock {
  if (a === b || b === 0) return a;
  if (a === 0) return b;
  if (typeof a === "number") return typeof b === "number" ? Math.max(a, b) : raised(b, a);
  return typeof b === "number" ? raised(a, b) : joined(a, b);
}

const raised = (tree: readonly Clock[], least: number): readonly Clock[] => {
  const children = tree.map((child) => join(child, least));
  return children.every((child, i) => child === tree[i]) ? tree : children;
};

function joined(a: readonly Clock[], b: readonly Clock[]): readonly Clock[] {
  let [isA, isB] = [true, true];
  const children = a.map((child, i) => {
    const both = join(child, b[i]!);
    isA &&= both === child;
    isB &&= both === b[i];
    return both;
  });
  return isA ? a : isB ? b : children;
}

const digitBits = 5;
const digits = 1 << digitBits;

/** A node in which the lanes of a mask have one time. */
export const lanesAt = (mask: number, time: number): Clock =>
  mask === -1 ? time : Array.from({ length: 32 }, (_, lane) => (((mask >>> lane) & 1) === 0 ? 0 : time));

/** The numbering of threads in clocks: lanes within warps within blocks, in the order of block indices. */
export class ThreadNumbers {
  readonly warpsPerBlock: number;
  /** Lanes of a block, including those without a thread. */
  readonly perBlock: number;
  /** The number of digits of a block's number. */
  readonly #height: number;

  constructor(blocks: number, warpsPerBlock: number) {
    this.warpsPerBlock = warpsPerBlock;
    this.perBlock = warpsPerBlock * 32;
    let height = 0;
    for (let room = 1; room < blocks; room *= digits) height++;
    this.#height = height;
  }

  /** A clock's time for a thread of a block. */
  timeOf(clock: Clock, block: number, warp: number, lane: number): number {
    let at = clock;
    for (let level = this.#height - 1; level >= 0; level--) {
      if (typeof at === "number") return at;
      at = at[(block >>> (level * digitBits)) & (digits - 1)]!;
    }
    if (typeof at === "number") return at;
    at = at[warp]!;
    return typeof at === "number" ? at : (at[lane] as number);
  }

  /** A clock with an entry for one block only. */
  ofBlock(block: number, clock: Clock): Clock {
    let at = clock;
    for (let level = 0; level < this.#height; level++) {
      at = alone(digits, (block >>> (level * digitBits)) & (digits - 1), at);
    }
    return at;
  }

  /** A clock with an entry for one warp only. */
  ofWarp(block: number, warp: number, clock: Clock): Clock {
    return this.ofBlock(block, alone(this.warpsPerBlock, warp, clock));
  }
}

const alone = (length: number, at: number, clock: Clock): Clock =>
  Array.from({ length }, (_, i) => (i === at ? clock : 0));
