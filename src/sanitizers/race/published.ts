import type { AccessKind } from "./access-kind.ts";
import { type Passed, Published } from "./published-value.ts";
import type { Page, Phase } from "./shadow.ts";
import type { Extents, Releases, WarpOrder } from "./warp-order.ts";

/** What a value passes on, including what its writer has published. */
function passedOn(value: Published, lane: number): Passed | null {
  if (value.fence === null && value.release === null) return value.passed;
  const { near, far } = value.releases(lane, value.block);
  return { near: new Map(value.passed?.near).set(value.block, near), far };
}

/** Joins two release operations of a lane on one place: the later one publishes more, but perhaps to fewer threads. */
const both = (earlier: Extents | null, later: Extents | null): Extents | null =>
  later === null ? earlier : later.far !== null || !earlier?.far ? later : { near: later.near, far: earlier.far };

/**
 * The synchronization by strong accesses (8.8, 8.9.4): a release pattern publishes what is ordered before it with the
 * value that it writes, atomic operations pass that on, and threads that read the value acquire it.
 */
export class PublishedValues {
  readonly #tick: () => number;
  #any = false;
  /** State of the current instruction: its release, and what its last lane has published. */
  #release: Extents | null = null;
  #last: Published | null = null;
  /** The phase of an mbarrier that the next access asks for. */
  #asked: Phase | null = null;

  constructor(tick: () => number) {
    this.#tick = tick;
  }

  /** Begins the accesses of an instruction. */
  begin(): void {
    this.#release = null;
    this.#last = null;
  }

  /** The next access asks for a phase of an mbarrier: it knows of those that arrived in the one that is complete. */
  askFor(phase: Phase | null): void {
    this.#asked = phase;
  }

  /** A strong access of a lane to a cell. `writer`: the thread whose strong write left the value, or -1. */
  access(kind: AccessKind, page: Page, cell: number, order: WarpOrder, lane: number, writer: number): void {
    const asked = this.#asked;
    this.#asked = null;
    if (!this.#any && !kind.releases && !order.hasFenced) return;
    const found = page.publishedAt(cell);
    const value = found !== null && found.warp === writer >>> 5 ? found : null;
    const seen = value !== null && meets(value, kind, order) ? value : null;
    if (kind.observes) {
      const from = asked ?? { value: found, writer };
      const known = from.value !== null && from.value.warp === from.writer >>> 5 ? from.value : null;
      if (known !== null && meets(known, kind, order))
        this.#acquire(kind, known.releases(from.writer & 31, order.block), order, lane);
    }
    if (kind.effect === "load") return;
    const own = writer === order.base + lane ? value : null;
    const next = this.#next(kind, own, kind.effect === "atomic" ? seen : null, writer & 31, order, lane);
    this.#any ||= next !== null;
    page.publish(cell, next);
  }

  /**
   * What the write of a lane publishes. `own`: what it published there before; `seen`: for an atomic, the value and its
   * writer.
   */
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
