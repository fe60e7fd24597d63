import type { AccessKind } from "./access-kind.ts";
import { type Clock, join } from "./clock.ts";
import type { Shadow } from "./shadow.ts";
import type { Releases, WarpOrder } from "./warp-order.ts";

/** What those acquire who read the value that a place of memory has now. */
interface Published {
  /** Who wrote the value, or changed it last in one step. */
  readonly thread: number;
  readonly block: number;
  readonly wide: boolean;
  readonly bits: number;
  /** By block, what its own threads acquire; and what those of all blocks do. */
  readonly near: ReadonlyMap<number, Clock>;
  readonly far: Clock;
  /** What its last release operation brings: strong writes by the same thread bring it again (8.8, the second form). */
  readonly owned: { readonly thread: number; readonly releases: Releases } | null;
}

const both = (a: Releases | null, b: Releases | null): Releases | null =>
  a === null ? b : b === null ? a : { near: join(a.near, b.near), far: join(a.far, b.far) };

/**
 * The synchronization that strong accesses bring about (8.8, 8.9.4): a release pattern publishes what comes before it with the
 * value that it writes, changes in one step pass that on, and who reads the value acquires it.
 */
export class PublishedValues {
  readonly #byShadow = new WeakMap<Shadow, Map<number, Published>>();
  readonly #tick: () => number;
  #any = false;

  constructor(tick: () => number) {
    this.#tick = tick;
  }

  /** A strong access of a lane at a byte of a memory. `writer`: the thread whose strong write the value is, or -1. */
  access(kind: AccessKind, shadow: Shadow, at: number, order: WarpOrder, lane: number, writer: number): void {
    if (!this.#any && !kind.releases && !order.hasFenced) return;
    const values = this.#byShadow.get(shadow);
    const found = values?.get(at) ?? null;
    const seen = found !== null && found.thread === writer && meets(found, kind, order) ? found : null;
    if (seen !== null && kind.observes) acquire(kind, seen, order, lane);
    if (kind.effect === "load") return;
    const next = this.#next(kind, found, kind.effect === "atomic" ? seen : null, order, lane);
    if (next === null) values?.delete(at);
    else this.#valuesOf(shadow).set(at, next);
  }

  /** What the write of a lane publishes; `passed` is what it passes on. */
  #next(
    kind: AccessKind,
    found: Published | null,
    passed: Published | null,
    order: WarpOrder,
    lane: number,
  ): Published | null {
    const { block } = order;
    const thread = order.base + lane;
    const released = kind.releases ? order.released(lane, this.#tick(), kind.wide) : null;
    const before = found?.owned?.thread === thread ? found.owned : null;
    const owned = released === null ? before : { thread, releases: both(released, before?.releases ?? null)! };
    const brought = both(order.fenced(lane), owned?.releases ?? null);
    if (brought === null && passed === null) return null;
    const near = new Map(passed?.near);
    if (brought !== null) near.set(block, join(near.get(block) ?? 0, brought.near));
    const far = join(passed?.far ?? 0, brought?.far ?? 0);
    return { thread, block, wide: kind.wide, bits: kind.access.bits, near, far, owned };
  }

  #valuesOf(shadow: Shadow): Map<number, Published> {
    this.#any = true;
    let values = this.#byShadow.get(shadow);
    if (values === undefined) this.#byShadow.set(shadow, (values = new Map()));
    return values;
  }
}

/** Whether an access is morally strong with the write of the value. */
const meets = ({ bits, block, wide }: Published, kind: AccessKind, order: WarpOrder): boolean =>
  bits === kind.access.bits && (block === order.block || (wide && kind.wide));

function acquire({ acquires, wide }: AccessKind, { near, far }: Published, order: WarpOrder, lane: number): void {
  const releases = { near: near.get(order.block) ?? 0, far };
  if (!acquires) {
    order.observe(lane, releases);
    return;
  }
  order.learn(1 << lane, releases.near);
  if (wide) order.learn(1 << lane, far);
}
