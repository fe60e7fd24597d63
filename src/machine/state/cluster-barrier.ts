import { popcount } from "../../ir/lane-mask.ts";
import type { Restore } from "../memory/checkpoint.ts";

/** Threads of a warp, by lane: those that have arrived in the current phase, and those that have not waited since. */
interface Arrivals {
  now: number;
  owed: number;
}

/** What lanes that wait are let go with. */
interface Waiter {
  readonly release: () => void;
}

const nobody: Arrivals = { now: 0, owed: 0 };

/**
 * The barrier of a cluster (section 9.7.13.3). It counts threads: all of the cluster that have not exited must arrive.
 * `key`: a warp, which is only told apart from others.
 */
export class ClusterBarrier {
  readonly #threads: number;
  /** Threads of the cluster that have not exited, and how many of them have not arrived in the current phase. */
  #live: number;
  #missing: number;
  #arrivals = new Map<object, Arrivals>();
  #waiters: Waiter[] = [];

  constructor(threads: number) {
    this.#threads = threads;
    this.#live = threads;
    this.#missing = threads;
  }

  /** Prepares the barrier for another cluster. */
  reset(): void {
    this.#live = this.#threads;
    this.#missing = this.#threads;
    if (this.#arrivals.size > 0) this.#arrivals.clear();
    this.#waiters.length = 0;
  }

  /** Threads that have arrived in the current phase, and those that have not exited. */
  get arrived(): number {
    return this.#live - this.#missing;
  }

  /** Threads of the cluster that have not ended. */
  get live(): number {
    return this.#live;
  }

  /** The lanes of `lanes` that have arrived before and have not waited since: they must not arrive again. */
  owing(key: object, lanes: number): number {
    return this.#of(key).owed & lanes;
  }

  /** The lanes of `lanes` whose arrival belongs to a phase that is not complete. */
  pending(key: object, lanes: number): number {
    return this.#of(key).now & lanes;
  }

  /** Lanes of a warp arrive, none of which owes a wait. Returns whether the phase is complete: then call `complete`. */
  arrive(key: object, lanes: number): boolean {
    const { now, owed } = this.#of(key);
    this.#arrivals.set(key, { now: now | lanes, owed: owed | lanes });
    this.#missing -= popcount(lanes);
    return this.#missing === 0;
  }

  /** Lanes of a warp exit. Returns whether the phase is complete: then call `complete`. */
  exit(key: object, lanes: number): boolean {
    const { now, owed } = this.#of(key);
    const count = popcount(lanes);
    const arrived = popcount(now & lanes);
    this.#live -= count;
    this.#missing -= count - arrived;
    if ((owed & lanes) !== 0) this.#arrivals.set(key, { now: now & ~lanes, owed: owed & ~lanes });
    return this.#missing === 0 && this.#live > 0;
  }

  /** Lanes whose phase is complete have waited. */
  pass(key: object, lanes: number): void {
    const { now, owed } = this.#of(key);
    this.#arrivals.set(key, { now, owed: owed & ~lanes });
  }

  /** Lanes wait until the phase is complete. */
  wait(release: () => void): void {
    this.#waiters.push({ release });
  }

  /** Begins the next phase, and lets those go on that wait. */
  complete(): void {
    this.#missing = this.#live;
    for (const [key, { owed }] of this.#arrivals) this.#arrivals.set(key, { now: 0, owed });
    for (const { release } of this.#waiters.splice(0)) release();
  }

  /** Keeps its state, and returns a function that restores it. */
  checkpoint(): Restore {
    const [live, missing] = [this.#live, this.#missing];
    const arrivals = new Map(this.#arrivals);
    const waiters = [...this.#waiters];
    return () => {
      [this.#live, this.#missing] = [live, missing];
      this.#arrivals = new Map(arrivals);
      this.#waiters = [...waiters];
    };
  }

  #of(key: object): Arrivals {
    return this.#arrivals.get(key) ?? nobody;
  }
}
