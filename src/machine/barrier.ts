import type { Group } from "./group.ts";
import type { Warp } from "./warp.ts";

/** What the predicates of a reducing barrier came to. */
export interface Reduction {
  popc: number;
  and: boolean;
  or: boolean;
}

export interface Waiter {
  readonly warp: Warp;
  readonly group: Group;
  /** Writes the results and lets the group go on. */
  readonly release: (reduction: Reduction) => void;
}

/** One of the sixteen barriers of a block (section 9.7.13.1). Arrivals count by warp: 32 for each, however many lanes it has. */
export class Barrier {
  readonly id: number;
  arrived = 0;
  /** The threads that the barrier waits for; null for all of the block. */
  count: number | null = null;
  readonly waiters: Waiter[] = [];
  #reduction: Reduction = { popc: 0, and: true, or: false };

  constructor(id: number) {
    this.id = id;
  }

  /** `voters` are the arriving lanes, `votes` those of them whose predicate is true. */
  arrive(count: number | null, voters: number, votes: number): void {
    this.count = count;
    this.arrived += 32;
    this.#reduction.popc += popcount(votes);
    this.#reduction.and &&= votes === voters;
    this.#reduction.or ||= votes !== 0;
  }

  /** Whether somebody waits and everybody has come; `liveWarps` are those that can still come. */
  complete(liveWarps: number): boolean {
    return this.arrived > 0 && this.arrived >= (this.count ?? liveWarps * 32);
  }

  release(): void {
    const waiters = this.waiters.splice(0);
    const reduction = this.#reduction;
    this.reset();
    for (const waiter of waiters) waiter.release(reduction);
  }

  reset(): void {
    this.arrived = 0;
    this.count = null;
    this.waiters.length = 0;
    this.#reduction = { popc: 0, and: true, or: false };
  }
}

export function popcount(mask: number): number {
  const pairs = mask - ((mask >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
