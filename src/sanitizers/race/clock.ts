/**
 * What is ordered before a point of a run: for each thread of the grid a time, before which everything that it did comes
 * first. A tree, as grids are: blocks by digits of their number, then warps, then lanes; a number stands for all below it.
 * Threads that have met mostly know the same of others, so that trees are small, and parts of them shared: they never change.
 */
export type Clock = number | readonly Clock[];

/** For each thread the later of two times. One of the two trees is given back where nothing of the other is later. */
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

/** The lanes of a mask at one time. */
export const lanesAt = (mask: number, time: number): Clock =>
  mask === -1 ? time : Array.from({ length: 32 }, (_, lane) => (((mask >>> lane) & 1) === 0 ? 0 : time));

/** Where the threads of a grid are in a clock. Their numbers count lanes within warps within blocks, in the order of tickets. */
export class ThreadNumbers {
  readonly warpsPerBlock: number;
  /** Threads of a block, lanes that no thread has included. */
  readonly perBlock: number;
  /** Digits of a block's number. */
  readonly #height: number;

  constructor(blocks: number, warpsPerBlock: number) {
    this.warpsPerBlock = warpsPerBlock;
    this.perBlock = warpsPerBlock * 32;
    let height = 0;
    for (let room = 1; room < blocks; room *= digits) height++;
    this.#height = height;
  }

  /** The time that a clock has for a thread of a block. */
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

  /** A clock that has this for a block, and nothing else. */
  ofBlock(block: number, clock: Clock): Clock {
    let at = clock;
    for (let level = 0; level < this.#height; level++) {
      at = alone(digits, (block >>> (level * digitBits)) & (digits - 1), at);
    }
    return at;
  }

  /** A clock that has this for a warp of a block. */
  ofWarp(block: number, warp: number, clock: Clock): Clock {
    return this.ofBlock(block, alone(this.warpsPerBlock, warp, clock));
  }
}

const alone = (length: number, at: number, clock: Clock): Clock =>
  Array.from({ length }, (_, i) => (i === at ? clock : 0));
