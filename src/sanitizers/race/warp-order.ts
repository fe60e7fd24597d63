import { lowestLane } from "../../ir/lane-mask.ts";
import type { Warp } from "../../machine/state/launch-state.ts";
import { type Clock, join, lanesAt, type ThreadNumbers } from "./clock.ts";

/** What threads acquire that observe a strong write, or an acquire fence later makes of it. */
export interface Releases {
  /** For threads of the same block, and for others. */
  near: Clock;
  far: Clock;
}

const none = (): Clock[] => Array.from({ length: 32 }, (): Clock => 0);
const nothing: readonly Clock[] = none();

/** A point in the run of a warp. What is ordered before it is computed later, if at all. */
class Moment {
  readonly #threads: ThreadNumbers;
  readonly #block: number;
  readonly #warp: number;
  /** Its threads, including those that have ended. */
  readonly #all: number;
  readonly #time: number;
  readonly #blockTime: number;
  readonly #warpTime: number;
  readonly #clocks: readonly Clock[];
  #byLane: (Clock | undefined)[] | null = null;

  constructor(threads: ThreadNumbers, order: WarpOrder, time: number) {
    this.#threads = threads;
    this.#block = order.block;
    this.#warp = order.warp.index;
    this.#all = order.everyone;
    this.#time = time;
    this.#blockTime = order.blockTime;
    this.#warpTime = order.warpTime;
    this.#clocks = order.hasAcquired ? [...order.clocks] : nothing;
  }

  /** A clock of what these threads did before it, and of all that is ordered before that. */
  past(mask: number): Clock {
    const time = this.#time;
    const own = join((this.#all & ~mask) === 0 ? time : lanesAt(mask, time), this.#warpTime);
    let clock = this.#threads.ofWarp(this.#block, this.#warp, own);
    clock = join(clock, this.#threads.ofBlock(this.#block, this.#blockTime));
    let last: Clock = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const known = this.#clocks[lowestLane(m)]!;
      if (known !== last) clock = join(clock, known);
      last = known;
    }
    return clock;
  }

  pastOf(lane: number): Clock {
    this.#byLane ??= [];
    return (this.#byLane[lane] ??= this.past(1 << lane));
  }
}

/** The last release fences before a strong write of a lane: for threads of the same block, and for others. */
export interface Extents {
  readonly near: Moment;
  readonly far: Moment | null;
}

/** By lane, what strong reads have observed. */
interface Observations {
  readonly near: Clock[];
  readonly far: Clock[];
}

/**
 * What is ordered before the next instruction of each lane of a warp. Nearly all of it is common to the lanes: what
 * their block did before the last barrier for all, and what their warp did before the last `bar.warp.sync` for all.
 * What else a lane has acquired is in a clock of its own.
 *
 * The lanes of a hardware thread of vISA are one thread, which has the number of lane 0.
 */
export class WarpOrder {
  readonly warp: Warp;
  readonly block: number;
  /** Its number in the grid, the number of the block's first warp, and that of its first thread. */
  readonly number: number;
  readonly firstWarp: number;
  readonly base: number;
  /** The time at which the block began. */
  readonly begun: number;
  /** The times before which everything is ordered that the block did, and that the warp did. */
  blockTime: number;
  warpTime: number;
  /** The last point of synchronization of any of its threads; by access, the last event, none of which is later. */
  now: number;
  readonly last: number[] = [];
  /** By lane, a clock of what else is ordered before it; and whether there is any. */
  readonly clocks = none();
  hasAcquired = false;
  /** The threads that it began with. */
  readonly everyone: number;
  /** By lane, the last release fences. */
  #fences: (Extents | null)[] | null = null;
  #observed: Observations | null = null;
  readonly #threads: ThreadNumbers;

  constructor(warp: Warp, threads: ThreadNumbers, time: number) {
    const { ticket } = warp.cta;
    this.warp = warp;
    this.block = ticket;
    this.firstWarp = ticket * threads.warpsPerBlock;
    this.number = this.firstWarp + warp.index;
    this.base = this.number * 32;
    this.#threads = threads;
    this.begun = time;
    this.blockTime = time;
    this.warpTime = time;
    this.now = time;
    this.everyone = this.all;
  }

  /** The threads among the lanes of a mask. */
  threadsOf(mask: number): number {
    return this.warp.lockstep ? 1 : mask;
  }

  /** The threads that have not ended. */
  get all(): number {
    return this.warp.lockstep && this.warp.live !== 0 ? 1 : this.warp.live;
  }

  get hasFenced(): boolean {
    return this.#fences !== null;
  }

  /** The threads of a mask that arrive at a barrier, plus those that have ended if no others are left. */
  coming(mask: number): number {
    return (this.all & ~mask) === 0 ? this.everyone : mask;
  }

  /** Sets the current time. */
  #moment(time: number): Moment {
    this.now = time;
    return new Moment(this.#threads, this, time);
  }

  /** A clock of what the threads of the mask did so far, and what is ordered before that. Sets the current time. */
  past(mask: number, time: number): Clock {
    return this.#moment(time).past(mask);
  }

  /** Orders the threads of the mask after everything in a clock. */
  learn(mask: number, clock: Clock): void {
    if (clock === 0) return;
    this.hasAcquired = true;
    let before: Clock = -1;
    let after: Clock = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const known = this.clocks[lane]!;
      if (known !== before) after = join(known, clock);
      before = known;
      this.clocks[lane] = after;
    }
  }

  /** `bar.warp.sync` (9.7.13.2). */
  meet(mask: number, time: number): void {
    if ((this.all & ~mask) !== 0) this.learn(mask, this.past(mask, time));
    else {
      this.warpTime = time;
      this.now = time;
      this.learn(mask, this.acquired);
    }
  }

  /** A barrier for the whole block. `clock`: what is ordered before its threads besides each other. */
  meetBlock(clock: Clock, time: number): void {
    this.blockTime = time;
    this.warpTime = time;
    this.now = time;
    this.learn(-1, clock);
  }

  /** A clock of what any of the lanes has acquired. */
  get acquired(): Clock {
    return this.acquiredBy(-1);
  }

  acquiredBy(mask: number): Clock {
    let all: Clock = 0;
    let last: Clock = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const known = this.clocks[lowestLane(m)]!;
      if (known !== last) all = join(all, known);
      last = known;
    }
    return all;
  }

  /** A release fence (8.8): strong writes after it publish what is before it. `wide`: to other blocks too. */
  fence(mask: number, time: number, wide: boolean): void {
    const fences = (this.#fences ??= Array.from({ length: 32 }, () => null));
    const near = this.#moment(time);
    let made: Extents = { near, far: wide ? near : null };
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const far = wide ? near : (fences[lane]?.far ?? null);
      if (far !== made.far) made = { near, far };
      fences[lane] = made;
    }
  }

  /** A clock of what release fences of the lanes have published to other blocks. */
  fencedPast(mask: number): Clock {
    let clock: Clock = 0;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const far = this.fenced(lane)?.far;
      if (far) clock = join(clock, far.pastOf(lane));
    }
    return clock;
  }

  /** What a strong write of a lane publishes because of the fences before it; null if there were none. */
  fenced(lane: number): Extents | null {
    return this.#fences?.[lane] ?? null;
  }

  /** What release operations of the lanes publish. */
  released(time: number, wide: boolean): Extents {
    const near = this.#moment(time);
    return { near, far: wide ? near : null };
  }

  /** Notes a strong read. An acquire fence after it acquires what it has observed. */
  observe(lane: number, { near, far }: Releases): void {
    const observed = (this.#observed ??= { near: none(), far: none() });
    observed.near[lane] = join(observed.near[lane]!, near);
    observed.far[lane] = join(observed.far[lane]!, far);
  }

  /** An acquire fence (8.8). */
  acquire(mask: number, wide: boolean): void {
    const observed = this.#observed;
    if (observed === null) return;
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      this.learn(1 << lane, observed.near[lane]!);
      if (wide) this.learn(1 << lane, observed.far[lane]!);
    }
  }
}
