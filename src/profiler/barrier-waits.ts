import type { BarrierEvent, BarrierReleaseEvent, LaneEvent } from "../machine/events.ts";
import type { Site } from "../machine/state/code.ts";
import type { Cta, Warp } from "../machine/state/launch-state.ts";

interface Arrival {
  readonly warp: Warp;
  readonly site: Site;
  readonly mask: number;
  /** The block's clock and the warp's own clock at that time, in warp-instructions. */
  readonly at: number;
  readonly own: number;
}

interface Waiting {
  readonly arrival: Arrival;
  readonly barrier: number;
}

/** How long one warp waited at one barrier instruction. */
export interface Waited {
  readonly site: Site;
  /** Warp-instructions that the block executed between the warp's arrival and its release. */
  readonly waited: number;
  /** How many more warp-instructions the last warp to arrive had executed, if all had started together. */
  readonly behind: number;
}

/**
 * The clocks of one block, in warp-instructions: one for the block, whose warps take turns, and one for each warp, as
 * if all warps ran at once and only waited for each other at barriers.
 */
export class BarrierWaits {
  #clock = 0;
  readonly #own: Float64Array;
  readonly #reached: Arrival[] = [];
  #waiting: Waiting[] = [];

  constructor({ warps }: Cta) {
    this.#own = new Float64Array(warps.length);
  }

  /** Counts one instruction of a warp. */
  tick(warp: Warp): void {
    this.#clock++;
    this.#own[warp.index]!++;
  }

  /** Records that lanes reach a barrier instruction; the rest of their warp may follow later. */
  reach({ warp, site, mask }: LaneEvent): void {
    this.#reached.push({ warp, site, mask, at: this.#clock, own: this.#own[warp.index]! });
  }

  /** Records that a warp has arrived at a barrier. In mode "arrive" it does not wait. */
  arrive({ warp, site, mask, barrier, mode }: BarrierEvent): void {
    const found = this.#reached.findIndex((c) => c.warp === warp && c.site === site && (c.mask & mask) !== 0);
    const [arrival] = found < 0 ? [] : this.#reached.splice(found, 1);
    if (arrival !== undefined && mode !== "arrive") this.#waiting.push({ arrival, barrier });
  }

  /** Returns how long each waiting warp has waited at a barrier that is released. */
  release({ barrier }: BarrierReleaseEvent): readonly Waited[] {
    const here = this.#waiting.filter((w) => w.barrier === barrier);
    this.#waiting = this.#waiting.filter((w) => w.barrier !== barrier);
    const last = here.reduce((most, { arrival }) => Math.max(most, arrival.own), 0);
    for (const { arrival } of here) this.#own[arrival.warp.index] = last;
    return here.map(({ arrival: { site, at, own } }) => ({ site, waited: this.#clock - at, behind: last - own }));
  }
}
