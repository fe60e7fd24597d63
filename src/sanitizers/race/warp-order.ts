import { lowestLane } from "../../ir/lane-mask.ts";
import type { Warp } from "../../machine/state/launch-state.ts";
import { type Clock, join, lanesAt, type ThreadNumbers } from "./clock.ts";

/** What a strong write brings to those who observe it, or a fence has seen and will bring. */
export interface Releases {
  /** To threads of the same block, and to others. */
  near: Clock;
  far: Clock;
}

const none = (): Clock[] => Array.from({ length: 32 }, (): Clock => 0);

const nothing: readonly Clock[] = none();

/** A point in the run of a warp, of which is asked later, if at all, what came before it. */
class Moment {
  readonly #threads: ThreadNumbers;
  readonly #block: number;
  readonly #warp: number;
  /** Its threads, those that have ended included. */
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

  /** What these threads did before it, and all that is ordered before that. */
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

/** Up to where a strong write of a lane brings what came before: to threads of the same block, and to others. */
export interface Extents {
  readonly near: Moment;
  readonly far: Moment | null;
}

/** By lane, what strong reads saw. */
interface Observations {
  readonly near: Clock[];
  readonly far: Clock[];
}

/**
 * What is ordered before the next instruction of each lane of a warp. Nearly all that lanes know they know together: what their
 * block did before the last barrier for all, and their warp before the last `bar.warp.sync` for all. What else a lane has
 * acquired is in a clock of its own.
 *
 * The lanes of a hardware thread of vISA are one thread, which has the number of lane 0.
 */
export class WarpOrder {
  readonly warp: Warp;
  readonly block: number;
  /** Its number in the grid, that of the block's first warp, and that of its first thread. */
  readonly number: number;
  readonly firstWarp: number;
  readonly base: number;
  /** Before this all that the block did comes first; and all that the warp did. */
  blockTime: number;
  warpTime: number;
  /** The last point of synchronization of any of its threads, and by kind the last events: none is of a later time. */
  now: number;
  readonly last: number[] = [];
  /** By lane, what else does; and whether there is anything. */
  readonly clocks = none();
  hasAcquired = false;
  /** The threads that there were when it began. */
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
    this.blockTime = time;
    this.warpTime = time;
    this.now = time;
    this.everyone = this.all;
  }

  /** The lanes of a mask that are threads. */
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

  /** The threads of a mask that come to a barrier, with those that have ended if they are all of the others. */
  coming(mask: number): number {
    return (this.all & ~mask) === 0 ? this.everyone : mask;
  }

  /** From now on it is `time`. */
  #moment(time: number): Moment {
    this.now = time;
    return new Moment(this.#threads, this, time);
  }

  /** What the threads of the mask did until now, and what is ordered before that; from now on it is `time`. */
  past(mask: number, time: number): Clock {
    return this.#moment(time).past(mask);
  }

  /** The threads of the mask come after all that the clock has. */
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

  /** A barrier for all of the block: `clock` is what its threads have known besides each other. */
  meetBlock(clock: Clock, time: number): void {
    this.blockTime = time;
    this.warpTime = time;
    this.now = time;
    this.learn(-1, clock);
  }

  /** What any of the lanes has acquired. */
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

  /** A release fence (8.8): strong writes behind it bring what comes before it. `wide`: to other blocks too. */
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

  /** What a strong write of a lane brings because of the fences before it; null if there were none. */
  fenced(lane: number): Extents | null {
    return this.#fences?.[lane] ?? null;
  }

  /** What release operations of the lanes bring. */
  released(time: number, wide: boolean): Extents {
    const near = this.#moment(time);
    return { near, far: wide ? near : null };
  }

  /** A strong read: an acquire fence behind it brings this. */
  observe(lane: number, { near, far }: Releases): void {
    const observed = (this.#observed ??= { near: none(), far: none() });
    observed.near[lane] = join(observed.near[lane]!, near);
    observed.far[lane] = join(observed.far[lane]!, far);
  }

  /** An acquire fence. */
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
