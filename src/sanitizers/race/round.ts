import type { BarrierEvent } from "../../machine/events.ts";
import type { Cta, Warp } from "../../machine/state/launch-state.ts";
import { type Clock, join } from "./clock.ts";
import type { WarpOrder } from "./warp-order.ts";

interface Waiting {
  readonly order: WarpOrder;
  readonly mask: number;
  /** False for those who have arrived before. */
  readonly arrives: boolean;
}

/**
 * The present round of a barrier (9.7.13.1): when it is complete, what those who have arrived did before comes before what those do
 * next who wait.
 */
export class Round {
  readonly #barrier: number;
  #waiting: Waiting[] = [];
  /** What those bring who arrive and do not wait. */
  #arrived: Clock = 0;
  /** Whether there are such. */
  #split = false;
  /** What the round before has brought. */
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

  /** All threads of the block that have not ended wait. */
  #isWhole({ warps }: Cta): boolean {
    if (this.#split) return false;
    const covered = new Map<Warp, number>();
    for (const { order, mask } of this.#waiting) covered.set(order.warp, (covered.get(order.warp) ?? 0) | mask);
    return this.#waiting.every(({ order }) => covered.get(order.warp) === order.all) && covered.size >= living(warps);
  }

  /** Who waits for a round that is over has gone on. */
  #waits({ groups }: Warp): boolean {
    return groups.some(({ wait }) => wait?.kind === "barrier" && wait.barrier === this.#barrier);
  }
}

const living = (warps: readonly Warp[]): number => warps.reduce((count, { live }) => count + (live === 0 ? 0 : 1), 0);
