import { accessBytes } from "../../machine/access-fault.ts";
import type { Grid } from "../../machine/grid.ts";
import type { AccessEvent } from "../../machine/events.ts";
import type { AccessKind } from "./access-kind.ts";
import type { ThreadNumbers } from "./clock.ts";
import { OptimisticLoads } from "./optimistic.ts";
import type { PublishedValues } from "./published.ts";
import { nowhere, type Region, Regions } from "./regions.ts";
import { cellsOf, nextCell, inPage, type Page, reader, writer } from "./shadow.ts";
import { Stamps } from "./stamps.ts";
import type { WarpOrder } from "./warp-order.ts";

/** One of two accesses that race: the earlier one. */
export interface Earlier {
  readonly thread: number;
  readonly kind: AccessKind;
}

/** The access of one lane that is being looked at. */
export interface Later {
  readonly event: AccessEvent;
  readonly kind: AccessKind;
  readonly lane: number;
  readonly thread: number;
  /** The bytes of it that the two have in common, from the lane's address on. */
  readonly byte: number;
  readonly bytes: number;
}

type OnRace = (earlier: Earlier, later: Later) => void;

/**
 * Compares each access with those that the shadow remembers of its place. Two conflict when one of them writes, and race when they are
 * neither ordered nor morally strong (8.7.1).
 */
export class Detector {
  readonly optimistic = new OptimisticLoads();
  readonly #threads: ThreadNumbers;
  readonly #stamps = new Stamps();
  readonly #regions: Regions;
  readonly #published: PublishedValues;
  readonly #onRace: OnRace;
  readonly #memory: Grid["memory"];
  #epoch = -1;
  #region: Region = nowhere;
  #isShared = false;
  /** The access of a lane. */
  #event!: AccessEvent;
  #kind!: AccessKind;
  #stamp = 0;
  #order!: WarpOrder;
  /** Nothing that comes later is ordered before it, unless the lane has acquired something. */
  #latest = 0;
  #lane = 0;
  #me = 0;
  #byte = 0;
  #bytes = 0;

  constructor(grid: Grid, threads: ThreadNumbers, published: PublishedValues, onRace: OnRace) {
    this.#threads = threads;
    this.#regions = new Regions(grid);
    this.#memory = grid.memory;
    this.#published = published;
    this.#onRace = onRace;
  }

  /** Where a lane accesses memory. */
  #regionOf({ warp, addressWords: words }: AccessEvent, lane: number): Region {
    const [low, high] = [words[2 * lane]!, words[2 * lane + 1]!];
    const known = this.#region;
    if (
      high === known.high &&
      (low - known.low) >>> 0 < known.bytes &&
      (known.cta === null || known.cta === warp.cta) &&
      this.#memory.epoch === this.#epoch
    ) {
      return known;
    }
    this.#epoch = this.#memory.epoch;
    this.#region = this.#regions.find(warp.cta, high, low);
    this.#isShared = this.#region.cta !== null;
    return this.#region;
  }

  access(event: AccessEvent, order: WarpOrder, time: number): void {
    const { access, addressWords: words, site } = event;
    const kind = this.#stamps.kindOf(site);
    if (this.#stamps.areMany) this.#stamps.renumber(cellsOf(this.#regions.shadows));
    this.#event = event;
    this.#kind = kind;
    this.#order = order;
    this.#stamp = this.#stamps.stamp(kind, time);
    this.#latest = order.hasAcquired ? Number.POSITIVE_INFINITY : order.warpTime;
    this.#published.begin();
    const { lockstep } = order.warp;
    const bytes = accessBytes(access);
    const isLoad = kind.effect === "load";
    for (let m = event.mask; m !== 0; m &= m - 1) {
      const lane = 31 - Math.clz32(m & -m);
      const region = this.#regionOf(event, lane);
      const { shadow } = region;
      if (shadow === null) continue;
      const at = (words[2 * lane]! - region.low) >>> 0;
      if (at + bytes > region.bytes) continue;
      this.#lane = lane;
      const own = lockstep ? 0 : lane;
      this.#me = order.base + own;
      const cellSize = access.bits < 16 || (at & 1) !== 0 ? 0 : access.bits < 32 || (at & 3) !== 0 ? 1 : 2;
      if (kind.strong) {
        const page = shadow.page(at, cellSize);
        const cell = page.cellAt(inPage(at));
        this.#published.access(kind, page, cell, order, own, this.#strongWriter(page, cell));
        if (order.hasAcquired) this.#latest = Number.POSITIVE_INFINITY;
      }
      for (let byte = 0; byte < bytes; ) {
        const page = shadow.page(at + byte, cellSize);
        const size = 1 << page.shift;
        const { length } = page.first;
        this.#bytes = size;
        for (let cell = page.cellAt(inPage(at + byte)); byte < bytes && cell < length; cell += nextCell) {
          this.#byte = byte;
          if (isLoad) this.#read(page, cell);
          else if (kind.strong) this.#writeStrongly(page, cell);
          else this.#write(page, cell);
          byte += size;
        }
      }
    }
  }

  /** The thread that wrote a place last, if it did so strongly; else -1. */
  #strongWriter(page: Page, cell: number): number {
    const stamp = page.first[cell + 1]!;
    return stamp !== 0 && this.#stamps.kindAt(stamp).strong ? page.first[cell]! : -1;
  }

  #read(page: Page, cell: number): void {
    const { first, second } = page;
    this.#check(page, first, cell + writer);
    if (second !== null) this.#check(page, second, cell + writer);
    const me = this.#me;
    const at = cell + reader;
    const stamp = first[at + 1]!;
    const thread = first[at]!;
    if (stamp === 0 || thread === me || this.#isOrdered(thread, stamp)) {
      first[at] = me;
      first[at + 1] = this.#stamp;
    } else this.#readToo(page, at, thread, stamp);
  }

  /** Another thread has read the place, and nothing orders the two. The cells remember two that are far apart. */
  #readToo(page: Page, at: number, thread: number, stamp: number): void {
    const second = page.needSecond();
    const me = this.#me;
    const other = second[at]!;
    const otherStamp = second[at + 1]!;
    const free = otherStamp === 0 || other === me || this.#isOrdered(other, otherStamp);
    const keep =
      (stamp === this.#stamp && thread >>> 5 === me >>> 5) || (this.#kind.strong && !this.#stamps.kindAt(stamp).strong);
    if (keep) {
      if (!free) return;
      second[at] = me;
      second[at + 1] = this.#stamp;
      return;
    }
    if (free || this.#distance(thread, me) >= this.#distance(other, me)) {
      second[at] = thread;
      second[at + 1] = stamp;
    }
    page.first[at] = me;
    page.first[at + 1] = this.#stamp;
  }

  /** A weak store: whoever comes after it comes after all that it was ordered behind. */
  #write(page: Page, cell: number): void {
    const { first, second } = page;
    this.#check(page, first, cell + writer);
    this.#check(page, first, cell + reader);
    if (second !== null) {
      this.#check(page, second, cell + writer);
      this.#check(page, second, cell + reader);
      second[cell] = second[cell + 1] = second[cell + 2] = second[cell + 3] = 0;
    }
    first[cell] = this.#me;
    first[cell + 1] = this.#stamp;
    first[cell + 2] = first[cell + 3] = 0;
  }

  /**
   * Strong writes need no order among each other, so that what is known of the last says little of those before: the cells
   * remember another one, a weak one rather than a strong one, and the weak reads.
   */
  #writeStrongly(page: Page, cell: number): void {
    const { first } = page;
    this.#check(page, first, cell + writer);
    this.#check(page, first, cell + reader);
    if (page.second !== null) {
      this.#check(page, page.second, cell + writer);
      this.#check(page, page.second, cell + reader);
    }
    const me = this.#me;
    const thread = first[cell]!;
    const stamp = first[cell + 1]!;
    const weak = stamp !== 0 && !this.#stamps.kindAt(stamp).strong;
    if (weak || (stamp !== 0 && thread !== me)) {
      const second = page.needSecond();
      const otherStamp = second[cell + 1]!;
      if (weak || otherStamp === 0 || this.#stamps.kindAt(otherStamp).strong) {
        second[cell] = thread;
        second[cell + 1] = stamp;
      }
    }
    first[cell] = me;
    first[cell + 1] = this.#stamp;
    this.#forgetStrongRead(first, cell + reader);
    if (page.second !== null) this.#forgetStrongRead(page.second, cell + reader);
  }

  #forgetStrongRead(cells: Int32Array, at: number): void {
    const stamp = cells[at + 1]!;
    if (stamp !== 0 && this.#stamps.kindAt(stamp).strong) cells[at] = cells[at + 1] = 0;
  }

  #check(page: Page, cells: Int32Array, at: number): void {
    const stamp = cells[at + 1]!;
    if (stamp !== 0 && cells[at] !== this.#me) this.#compare(page, cells[at]!, stamp, at);
  }

  /** With what another thread did. */
  #compare(page: Page, thread: number, stamp: number, at: number): void {
    if (this.#isOrdered(thread, stamp)) return;
    const kind = this.#stamps.kindAt(stamp);
    if (this.#areMorallyStrong(kind, thread, this.#kind, this.#me)) return;
    if (kind.strong && kind.effect !== "load" && this.#isObserved(page, at, thread, kind)) return;
    if (this.#isOptimistic(kind, this.#kind) || this.#isOptimistic(this.#kind, kind)) return;
    this.#onRace(
      { thread, kind },
      {
        event: this.#event,
        kind: this.#kind,
        lane: this.#lane,
        thread: this.#me,
        byte: this.#byte,
        bytes: this.#bytes,
      },
    );
  }

  /** Whether an access comes before the one that is looked at. */
  #isOrdered(thread: number, stamp: number): boolean {
    const order = this.#order;
    const time = this.#stamps.times[stamp]!;
    if (time >= this.#latest) return false;
    const inBlock = thread - order.blockBase;
    const { perBlock, warpsPerBlock } = this.#threads;
    if (this.#isShared || (inBlock >= 0 && inBlock < perBlock)) {
      if (time < order.blockTime) return true;
      if (time < order.warpTime && thread >>> 5 === order.base >>> 5) return true;
    }
    const clock = order.clocks[order.warp.lockstep ? 0 : this.#lane]!;
    if (clock === 0) return false;
    const warp = thread >>> 5;
    const block = Math.floor(warp / warpsPerBlock);
    return time < this.#threads.timeOf(clock, block, warp - block * warpsPerBlock, thread & 31);
  }

  /** Section 8.7: both strong, each in the scope of the other, and all bytes the same. */
  #areMorallyStrong(a: AccessKind, threadA: number, b: AccessKind, threadB: number): boolean {
    if (!a.strong || !b.strong || a.access.bits !== b.access.bits) return false;
    return (a.wide && b.wide) || this.#isShared || this.#blockOf(threadA) === this.#blockOf(threadB);
  }

  /**
   * The second rule of causality order (8.9.5): a strong write comes before what follows a strong read of its value. Such a
   * read is the reader of the cell, which a later strong write would have replaced, or a later change in one step.
   */
  #isObserved(page: Page, at: number, thread: number, kind: AccessKind): boolean {
    const cell = at - (at % nextCell);
    const { first, second } = page;
    for (const [cells, slot] of [
      [first, reader],
      [second, reader],
      [first, writer],
    ] as const) {
      const stamp = cells?.[cell + slot + 1] ?? 0;
      if (cells === null || stamp === 0 || (slot === writer && cells[cell] === thread)) continue;
      const by = this.#stamps.kindAt(stamp);
      const observer = cells[cell + slot]!;
      if (slot === writer && by.effect !== "atomic") continue;
      if (!this.#areMorallyStrong(kind, thread, by, observer)) continue;
      if (observer === this.#me || this.#isOrdered(observer, stamp)) return true;
    }
    return false;
  }

  #blockOf(thread: number): number {
    return Math.floor(thread / this.#threads.perBlock);
  }

  /** How little two threads have in common. */
  #distance(a: number, b: number): number {
    return a >>> 5 === b >>> 5 ? 0 : this.#blockOf(a) === this.#blockOf(b) ? 1 : 2;
  }

  /** A load of what others change in one step, with which a compare-and-swap begins. */
  #isOptimistic(load: AccessKind, change: AccessKind): boolean {
    return load.effect === "load" && change.effect === "atomic" && this.optimistic.has(load.site);
  }
}
