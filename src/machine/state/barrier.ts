import { popcount } from "../../ir/lane-mask.ts";
import type { Restore } from "../memory/checkpoint.ts";

/** The result of a reducing barrier over the predicates of its threads. */
export interface Reduction {
  popc: number;
  and: boolean;
  or: boolean;
}

/** A warp that waits at a barrier. */
export interface Waiter<W> {
  readonly warp: W;
  /** Writes the results and lets the warp go on. */
  readonly release: (reduction: Reduction) => void;
}

/**
 * One of the barriers of a block. In PTX (section 9.7.13.1) arrivals count by warp: 32 for each, however many lanes it
 * has; in vISA a hardware thread counts as one. `W`: the warps, which a barrier only tells apart.
 */
export class Barrier<W> {
  readonly id: number;
  /** The count of one warp. */
  readonly weight: number;
  arrived = 0;
  /** Completed rounds, and by warp the round to which it has arrived without waiting. */
  round = 0;
  #arrivedTo: Map<W, number> | null = null;
  /** The threads that the barrier waits for; null for all of the block. */
  count: number | null = null;
  readonly waiters: Waiter<W>[] = [];
  #reduction: Reduction = { popc: 0, and: true, or: false };

  constructor(id: number, weight: number) {
    this.id = id;
    this.weight = weight;
  }

  /** A warp arrives. `voters`: its arriving lanes; `votes`: those of them whose predicate is true. */
  arrive(count: number | null, voters: number, votes: number): void {
    this.count = count;
    this.arrived += this.weight;
    this.#reduction.popc += popcount(votes);
    this.#reduction.and &&= votes === voters;
    this.#reduction.or ||= votes !== 0;
  }

  /** Notes that the warp has arrived, and will wait later or not at all. */
  arriveEarly(warp: W): void {
    (this.#arrivedTo ??= new Map()).set(warp, this.round);
  }

  /** Whether the round to which the warp has arrived, or else the present one, is complete. */
  passed(warp: W): boolean {
    const round = this.#arrivedTo?.get(warp) ?? this.round;
    if (round < this.round) this.#arrivedTo?.delete(warp);
    return round < this.round;
  }

  /** Whether all have arrived; `warps`: the number that the barrier waits for when it has no count. */
  complete(warps: number): boolean {
    return this.arrived > 0 && this.arrived >= (this.count ?? warps * this.weight);
  }

  /** Lets all waiting warps go on, with the reduction of their predicates, and begins the next round. */
  release(): void {
    const waiters = this.waiters.splice(0);
    const reduction = this.#reduction;
    this.#open();
    this.round++;
    for (const { warp } of waiters) this.#arrivedTo?.delete(warp);
    for (const waiter of waiters) waiter.release(reduction);
  }

  /** Prepares the barrier for another block. */
  reset(): void {
    if (this.arrived === 0 && this.round === 0 && this.#arrivedTo === null) return;
    this.round = 0;
    this.#arrivedTo = null;
    this.#open();
  }

  /** Keeps its state, and returns a function that restores it. */
  checkpoint(): Restore {
    const { arrived, round, count } = this;
    const arrivedTo = this.#arrivedTo && new Map(this.#arrivedTo);
    const waiters = [...this.waiters];
    const reduction = { ...this.#reduction };
    return () => {
      Object.assign(this, { arrived, round, count });
      this.#arrivedTo = arrivedTo && new Map(arrivedTo);
      this.waiters.splice(0, this.waiters.length, ...waiters);
      this.#reduction = { ...reduction };
    };
  }

  #open(): void {
    this.arrived = 0;
    this.count = null;
    this.waiters.length = 0;
    this.#reduction = { popc: 0, and: true, or: false };
  }
}
