import type { AccessKind } from "./access-kind.ts";
import { type Clock, join } from "./clock.ts";
import type { Extents, Releases, WarpOrder } from "./warp-order.ts";

/** What an atomic operation passes on from earlier writes: by block, for its own threads; and for all threads. */
export interface Passed {
  readonly near: ReadonlyMap<number, Clock>;
  readonly far: Clock;
}

/**
 * What threads acquire by reading a value that a strong write has left. The writes of one instruction share an object
 * where possible, and the lane tells them apart. Clocks are computed on demand, which is rare.
 */
export class Published {
  readonly warp: number;
  readonly block: number;
  readonly wide: boolean;
  readonly bits: number;
  /** The release fences before the write. */
  readonly fence: Extents | null;
  /** The release operation on the place: the write itself, or an earlier one of the same lane (8.8, second form). */
  readonly release: Extents | null;
  readonly passed: Passed | null;
  #lane = -1;
  #brought: Releases = { near: 0, far: 0 };

  constructor(kind: AccessKind, order: WarpOrder, from: Pick<Published, "fence" | "release" | "passed">) {
    this.warp = order.number;
    this.block = order.block;
    this.wide = kind.wide;
    this.bits = kind.access.bits;
    this.fence = from.fence;
    this.release = from.release;
    this.passed = from.passed;
  }

  /** What the write of a lane publishes by itself. */
  brought(lane: number): Releases {
    if (this.#lane !== lane) {
      this.#lane = lane;
      const { fence, release } = this;
      this.#brought = {
        near: join(fence?.near.pastOf(lane) ?? 0, release?.near.pastOf(lane) ?? 0),
        far: join(fence?.far?.pastOf(lane) ?? 0, release?.far?.pastOf(lane) ?? 0),
      };
    }
    return this.#brought;
  }

  /** What threads of a block acquire with the value that a lane has written. */
  releases(lane: number, block: number): Releases {
    const { near, far } = this.brought(lane);
    const passed = this.passed?.near.get(block) ?? 0;
    return { near: block === this.block ? join(near, passed) : passed, far: join(far, this.passed?.far ?? 0) };
  }
}
