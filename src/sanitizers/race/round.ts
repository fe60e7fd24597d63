import type { BarrierEvent } from "../../machine/events.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";
import { type Clock, join } from "./clock.ts";
import type { WarpOrder } from "./warp-order.ts";

interface Waiting {
  readonly order: WarpOrder;
  readonly mask: number;
  /** False for threads that arrived before. */
  readonly arrives: boolean;
}

/**
 * The current round of a barrier (9.7.13.1): when it is complete, what threads did before they arrived is ordered
 * before what the waiting threads do next.
 */
export class Round {
  readonly #barrier: number;
  #waiting: Waiting[] = [];
  /** What is ordered before threads that arrive without waiting. */
  #arrived: Clock = 0;
  /** Whether any thread has arrived without waiting. */
  #split = false;
  /** What the previous round ordered. */
  #before: Clock = 0;

  constructor(barrier: number) {
    this.#barrier = barrier;
  }

  come(order: WarpOrder, mask: number, mode: BarrierEvent["mode"], tick: () => number): void {
    if (mode === "sync" || mode === "red") {
      this.#waiting.push({ order, mask, arrives: true });
      return;
    }
    this.#split = true;
    if (mode === "arrive") {
      this.#arrived = join(this.#arrived, order.past(order.coming(mask), tick()));
      return;
    }
    order.learn(mask, this.#before);
    this.#waiting.push({ order, mask, arrives: false });
  }

  complete(cta: Cta, time: number): void {
    const waiting = this.#waiting;
    if (this.#isWhole(cta)) {
      const acquired = waiting.reduce((clock: Clock, { order }) => join(clock, order.acquired), 0);
      for (const { order } of waiting) order.meetBlock(acquired, time);
    } else {
      let clock = this.#arrived;
      for (const { order, mask, arrives } of waiting)
        if (arrives) clock = join(clock, order.past(order.coming(mask), time));
      for (const { order, mask, arrives } of waiting) if (arrives || this.#waits(order.warp)) order.learn(mask, clock);
      this.#before = clock;
    }
    this.#waiting = [];
    this.#arrived = 0;
    this.#split = false;
  }

  /** Whether all threads of the block that have not ended wait. */
  #isWhole({ warps }: Cta): boolean {
    if (this.#split) return false;
    const covered = new Map<Warp, number>();
    for (const { order, mask } of this.#waiting) covered.set(order.warp, (covered.get(order.warp) ?? 0) | mask);
    return this.#waiting.every(({ order }) => covered.get(order.warp) === order.all) && covered.size >= living(warps);
  }

  /** Whether groups of the warp still wait: those of a completed round have gone on. */
  #waits({ groups }: Warp): boolean {
    return groups.some(({ wait }) => wait?.kind === "barrier" && wait.barrier === this.#barrier);
  }
}

const living = (warps: readonly Warp[]): number => warps.reduce((count, { live }) => count + (live === 0 ? 0 : 1), 0);
