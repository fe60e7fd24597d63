import type { BarrierEvent, BarrierReleaseEvent, LaneEvent } from "../machine/events.ts";
import type { Site } from "../machine/state/code.ts";
import type { Cta, Warp } from "../machine/state/launch-state.ts";

interface Coming {
  readonly warp: Warp;
  readonly site: Site;
  readonly mask: number;
  /** The clock of the block, and that of the warp. */
  readonly at: number;
  readonly own: number;
}

interface Waiting {
  readonly coming: Coming;
  readonly barrier: number;
}

/** How long one warp has waited at one barrier instruction. */
export interface Waited {
  readonly site: Site;
  /** Warp-instructions of the block between its arrival and its release. */
  readonly waited: number;
  /** Its own warp-instructions that the last to arrive has executed more, if all had begun together. */
  readonly behind: number;
}

/**
 * The clocks of one block, which count warp-instructions: one for the block, as its warps take turns, and one for each warp
 * as if all of them ran at once and met at barriers.
 */
export class BarrierWaits {
  #clock = 0;
  readonly #own: Float64Array;
  readonly #coming: Coming[] = [];
  #waiting: Waiting[] = [];

  constructor({ warps }: Cta) {
    this.#own = new Float64Array(warps.length);
  }

  tick(warp: Warp): void {
    this.#clock++;
    this.#own[warp.index]!++;
  }

  /** Lanes come to a barrier; the rest of their warp may not be there yet. */
  come({ warp, site, mask }: LaneEvent): void {
    this.#coming.push({ warp, site, mask, at: this.#clock, own: this.#own[warp.index]! });
  }

  arrive({ warp, site, mask, barrier, mode }: BarrierEvent): void {
    const found = this.#coming.findIndex((c) => c.warp === warp && c.site === site && (c.mask & mask) !== 0);
    const [coming] = found < 0 ? [] : this.#coming.splice(found, 1);
    if (coming !== undefined && mode !== "arrive") this.#waiting.push({ coming, barrier });
  }

  release({ barrier }: BarrierReleaseEvent): readonly Waited[] {
    const here = this.#waiting.filter((w) => w.barrier === barrier);
    this.#waiting = this.#waiting.filter((w) => w.barrier !== barrier);
    const last = here.reduce((most, { coming }) => Math.max(most, coming.own), 0);
    for (const { coming } of here) this.#own[coming.warp.index] = last;
    return here.map(({ coming: { site, at, own } }) => ({ site, waited: this.#clock - at, behind: last - own }));
  }
}
