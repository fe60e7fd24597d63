import type { AccessKind } from "./access-kind.ts";
import { type Clock, join } from "./clock.ts";
import type { Page } from "./shadow.ts";
import type { Extents, Releases, WarpOrder } from "./warp-order.ts";

/** What a change in one step passes on of the writes before it: by block, what its own threads acquire; and what all do. */
interface Passed {
  readonly near: ReadonlyMap<number, Clock>;
  readonly far: Clock;
}

/**
 * What those acquire who read a value that a strong write has left. The writes of one instruction share it where they can: a lane
 * says which of them it was. Clocks are made when somebody asks, which for most values nobody does.
 */
export class Published {
  readonly warp: number;
  readonly block: number;
  readonly wide: boolean;
  readonly bits: number;
  /** The fences before the write. */
  readonly fence: Extents | null;
  /** The release operation on the place that this is, or that the same lane has done before (8.8, the second form). */
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

  /** What the write of a lane has brought itself. */
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

/** What a value passes on with what its own writer, a lane, has brought. */
function passedOn(value: Published, lane: number): Passed | null {
  if (value.fence === null && value.release === null) return value.passed;
  const { near, far } = value.releases(lane, value.block);
  return { near: new Map(value.passed?.near).set(value.block, near), far };
}

/** Two release operations of a lane on one place: the later one brings all, but perhaps to fewer threads. */
const both = (earlier: Extents | null, later: Extents | null): Extents | null =>
  later === null ? earlier : later.far !== null || !earlier?.far ? later : { near: later.near, far: earlier.far };

/**
 * The synchronization that strong accesses bring about (8.8, 8.9.4): a release pattern publishes what comes before it with the
 * value that it writes, changes in one step pass that on, and who reads the value acquires it.
 */
export class PublishedValues {
  readonly #tick: () => number;
  #any = false;
  /** Of the present instruction: its release, and what its last lane has published. */
  #release: Extents | null = null;
  #last: Published | null = null;

  constructor(tick: () => number) {
    this.#tick = tick;
  }

  /** The accesses that follow are of another instruction. */
  begin(): void {
    this.#release = null;
    this.#last = null;
  }

  /** A strong access of a lane at a cell. `writer`: the thread whose strong write the value is, or -1. */
  access(kind: AccessKind, page: Page, cell: number, order: WarpOrder, lane: number, writer: number): void {
    if (!this.#any && !kind.releases && !order.hasFenced) return;
    const found = page.publishedAt(cell);
    const value = found !== null && found.warp === writer >>> 5 ? found : null;
    const seen = value !== null && meets(value, kind, order) ? value : null;
    if (seen !== null && kind.observes) this.#acquire(kind, seen.releases(writer & 31, order.block), order, lane);
    if (kind.effect === "load") return;
    const own = writer === order.base + lane ? value : null;
    const next = this.#next(kind, own, kind.effect === "atomic" ? seen : null, writer & 31, order, lane);
    this.#any ||= next !== null;
    page.publish(cell, next);
  }

  /** What the write of a lane publishes. `own`: what it has left there before; `seen`: what it changes in one step, and whose. */
  #next(
    kind: AccessKind,
    own: Published | null,
    seen: Published | null,
    writer: number,
    order: WarpOrder,
    lane: number,
  ): Published | null {
    if (kind.releases) this.#release ??= order.released(this.#tick(), kind.wide);
    const release = both(own?.release ?? null, this.#release);
    const fence = order.fenced(lane);
    const last = this.#last;
    if (seen === null) {
      if (fence === null && release === null) return null;
      if (last !== null && last.passed === null && last.fence === fence && last.release === release) return last;
    } else if (seen === own && seen.fence === fence && seen.release === release && seen.wide === kind.wide) return seen;
    const passed = seen === null ? null : passedOn(seen, writer);
    return (this.#last = new Published(kind, order, { fence, release, passed }));
  }

  #acquire({ acquires, wide }: AccessKind, releases: Releases, order: WarpOrder, lane: number): void {
    if (!acquires) {
      order.observe(lane, releases);
      return;
    }
    this.#release = null;
    order.learn(1 << lane, releases.near);
    if (wide) order.learn(1 << lane, releases.far);
  }
}

/** Whether an access is morally strong with the write of the value. */
const meets = ({ bits, block, wide }: Published, kind: AccessKind, order: WarpOrder): boolean =>
  bits === kind.access.bits && (block === order.block || (wide && kind.wide));
