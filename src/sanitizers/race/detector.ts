import { OptimisticLoads } from "../../ir/flow/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type { AccessEvent, CallEvent, LaneEvent } from "../../machine/events.ts";
import { accessBytes } from "../../machine/faults/access-fault.ts";
import { parts } from "../../machine/memory/address-space.ts";
import type { Grid } from "../../machine/state/launch-state.ts";
import type { AccessKind, MadeAccess } from "./access-kind.ts";
import type { ThreadNumbers } from "./clock.ts";
import { AccessEvents } from "./events.ts";
import { pointersTo } from "./free.ts";
import { phaseBefore } from "./mbarrier-phases.ts";
import type { PublishedValues } from "./published.ts";
import { nowhere, type Region, Regions } from "./regions.ts";
import { type Entry, inPage, type Page, type Phase } from "./shadow.ts";
import type { WarpOrder } from "./warp-order.ts";

/** The earlier of two accesses that race. */
export interface Earlier {
  readonly thread: number;
  readonly kind: AccessKind;
}

/** The accesses of some lanes. */
export type Accesses = LaneEvent &
  Pick<AccessEvent, "ordinal" | "access" | "addresses"> & {
    /** What a unit of the machine is going to store, if that is known. */
    readonly contents?: (() => Uint8Array) | null;
  };

/** The access of one lane that is being checked: the later of two. */
export interface Later {
  readonly event: Accesses;
  readonly kind: AccessKind;
  readonly lane: number;
  readonly thread: number;
  /** The bytes that both accesses have in common, counted from the lane's address. */
  readonly byte: number;
  readonly bytes: number;
}

/** Is told of a race. */
export type OnRace = (earlier: Earlier, later: Later) => void;

/** Bytes of a range from which on its cells are looked at together, where they are alike. */
const longBytes = 64;

/**
 * Compares each access with those that the shadow has recorded for its place. Two accesses conflict if one of them
 * writes, and race if they are neither ordered nor morally strong (8.7.1).
 */
export class Detector {
  readonly optimistic = new OptimisticLoads();
  readonly #threads: ThreadNumbers;
  readonly #events = new AccessEvents();
  readonly #regions: Regions;
  readonly #published: PublishedValues;
  readonly #onRace: OnRace;
  readonly #memory: Grid["memory"];
  #epoch = -1;
  #region: Region = nowhere;
  #isShared = false;
  /** The access that is being checked. */
  #event!: Accesses;
  #kind!: AccessKind;
  /** The number of the event that it belongs to. */
  #number = 0;
  #order!: WarpOrder;
  /** Nothing after this time is ordered before the access, unless the lane has acquired something. */
  #latest = 0;
  /** An event that is known to be ordered before the access in all lanes. */
  #settled = 0;
  #lane = 0;
  /** The lane's number as a thread of the warp. */
  #own = 0;
  #byte = 0;
  /** The phase of the mbarrier that the last lane has accessed; null for the first one. */
  #phase: Phase | null = null;
  /** Whether a race has been found since this was last set. */
  #races = false;

  constructor(grid: Grid, threads: ThreadNumbers, published: PublishedValues, onRace: OnRace) {
    this.#threads = threads;
    this.#regions = new Regions(grid);
    this.#memory = grid.memory;
    this.#published = published;
    this.#onRace = onRace;
  }

  /** `own`: the access, if the instruction alone does not tell it. */
  access(event: AccessEvent, order: WarpOrder, own: MadeAccess | null = null): void {
    const { access, addressWords: words, site, ordinal, mask } = event;
    const kind = this.#events.kindOf(site, ordinal, own);
    if (this.#events.areMany) this.#renumber();
    this.#event = event;
    this.#number = this.#events.of(kind, order);
    this.#begin(kind, order);
    this.#published.begin();
    this.#phase = null;
    const { lockstep } = order.warp;
    const bytes = accessBytes(access);
    const size = access.bits < 16 ? 0 : access.bits < 32 ? 1 : 2;
    const isLoad = kind.effect === "load";
    let page: Page | null = null;
    // The page's addresses, and the entry in it of the event's lane 0.
    let [pageHigh, pageLow, pageBytes, first] = [0, 0, 0, 0];
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const high = words[2 * lane + 1]!;
      const start = words[2 * lane]!;
      this.#lane = lane;
      this.#own = lockstep ? 0 : lane;
      const cellSize = (start & 1) !== 0 ? 0 : size === 2 && (start & 3) !== 0 ? 1 : size;
      let byte = 0;
      do {
        const low = start + byte;
        let at = (low - pageLow) >>> 0;
        if (page === null || at >= pageBytes || high !== pageHigh || page.shift > cellSize) {
          const region = this.#regionOf(event, high, low);
          if (region.shadow === null) break;
          const offset = (low - region.low) >>> 0;
          if (offset + bytes - byte > region.bytes) break;
          page = region.shadow.page(offset, cellSize);
          first = page.entryOf(this.#number);
          at = inPage(offset);
          pageHigh = high;
          pageLow = low - at;
          pageBytes = page.bytes;
        }
        const cell = at >>> page.shift;
        this.#byte = byte;
        if (kind.strong && byte === 0) this.#synchronize(page, cell);
        const writer = page.writers[cell]!;
        const otherWriter = page.otherWriters[cell]!;
        const reader = page.readers[cell]!;
        const otherReader = page.otherReaders[cell]!;
        this.#races = false;
        if (isLoad) this.#read(page, cell, first | this.#own);
        else if (kind.strong) this.#writeStrongly(page, cell, first | this.#own);
        else this.#write(page, cell, first | this.#own);
        byte += 1 << page.shift;
        if (bytes - byte < longBytes || kind.strong || this.#races) continue;
        // Most cells of a long range have the same accesses: what has come of one comes of all.
        const left = Math.min(page.cells - cell - 1, (bytes - byte) >>> page.shift);
        byte += page.repeat(cell, left, writer, otherWriter, reader, otherReader) << page.shift;
      } while (byte < bytes);
    }
  }

  /** A call of `free`. All other accesses to the memory must be ordered before it. */
  free(event: CallEvent, order: WarpOrder): void {
    const kind = this.#events.kindOf(event.site);
    const addresses = pointersTo(event);
    this.#begin(kind, order);
    for (let m = event.mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      const { high, low } = parts(BigInt.asUintN(64, addresses[lane]!));
      const region = this.#regions.find(event.warp.cta, high, low);
      if (region.shadow === null || region.low !== (low | 0)) continue;
      this.#event = { ...event, ordinal: 0, access: { ...kind.access, count: region.bytes }, addresses };
      this.#lane = this.#own = lane;
      this.#isShared = false;
      for (const [start, page] of region.shadow.pages) {
        for (let cell = 0; cell < page.cells; cell++) {
          this.#byte = start + (cell << page.shift);
          this.#checkAll(page, cell);
        }
      }
      this.#regions.forget(region);
    }
    this.#region = nowhere;
  }

  /** Begins the accesses of the lanes of a warp. */
  #begin(kind: AccessKind, order: WarpOrder): void {
    this.#kind = kind;
    this.#order = order;
    this.#latest = order.hasAcquired ? Number.POSITIVE_INFINITY : order.warpTime;
    this.#settled = 0;
  }

  /** The region of an address. */
  #regionOf({ warp }: AccessEvent, high: number, low: number): Region {
    const known = this.#region;
    if (
      high !== known.high ||
      (low - known.low) >>> 0 >= known.bytes ||
      (known.cta !== null && known.cta !== warp.cta) ||
      this.#memory.epoch !== this.#epoch
    ) {
      this.#epoch = this.#memory.epoch;
      this.#region = this.#regions.find(warp.cta, high, low);
      this.#isShared = this.#region.cta !== null;
    }
    return this.#region;
  }

  /** Synchronizes a strong access with the last write to the place: what it acquires, and what it publishes. */
  #synchronize(page: Page, cell: number): void {
    const order = this.#order;
    const writer = this.#strongWriter(page, cell);
    if (this.#kind.isOfMbarrier) {
      // Most often all lanes access the same one.
      if (this.#phase === null || this.#phase !== page.phases.get(cell)) {
        this.#phase = phaseBefore(this.#event, this.#lane, page, cell, writer);
      }
      if (this.#kind.asksForPhase) this.#published.askFor(this.#phase);
    }
    this.#published.access(this.#kind, page, cell, order, this.#own, writer);
    if (order.hasAcquired) this.#latest = Number.POSITIVE_INFINITY;
  }

  #renumber(): void {
    const pages = [...this.#regions.shadows].flatMap((shadow) => shadow.pages.map(([, page]) => page));
    this.#events.renumber(pages.map(({ events }) => events));
    for (const page of pages) page.rehash();
  }

  /** The thread that wrote a place last, if that write was strong; or else -1. */
  #strongWriter(page: Page, cell: number): number {
    const entry = page.writers[cell]!;
    if (entry === 0) return -1;
    const event = page.eventOf(entry);
    return this.#events.kindAt(event).strong ? this.#threadOf(event, entry) : -1;
  }

  #threadOf(event: number, entry: Entry): number {
    return this.#events.warps[event]! * 32 + (entry & 31);
  }

  #read(page: Page, cell: number, me: Entry): void {
    this.#check(page, cell, page.writers[cell]!);
    this.#check(page, cell, page.otherWriters[cell]!);
    const known = page.readers[cell]!;
    if (known === me) return;
    if (known === 0 || this.#precedes(page, known)) page.read(cell, me);
    else this.#readToo(page, cell, me, known);
  }

  /** Whether an access is the lane's own, or ordered before the one that is being checked. */
  #precedes(page: Page, entry: Entry): boolean {
    const event = page.eventOf(entry);
    if (event === this.#settled) return true;
    if (this.#events.times[event]! < this.#latest && this.#isOrdered(event, entry)) return true;
    return this.#isOwn(event, entry);
  }

  #isOwn(event: number, entry: Entry): boolean {
    return (entry & 31) === this.#own && this.#events.warps[event] === this.#order.number;
  }

  /**
   * Notes that another, unordered thread has read the place. The cell keeps two readers that are far apart in the grid.
   */
  #readToo(page: Page, cell: number, me: Entry, known: Entry): void {
    const events = this.#events;
    const event = page.eventOf(known);
    const other = page.otherReaders[cell]!;
    const free = other === 0 || this.#precedes(page, other);
    if (event === this.#number || (this.#kind.strong && !events.kindAt(event).strong)) {
      if (free) page.readToo(cell, me);
      return;
    }
    if (free || this.#distance(event) >= this.#distance(page.eventOf(other))) page.readToo(cell, known);
    page.read(cell, me);
  }

  /** A weak store. What is ordered after it is also ordered after everything before it. */
  #write(page: Page, cell: number, me: Entry): void {
    this.#checkAll(page, cell);
    page.overwrite(cell, me);
  }

  /**
   * A strong write. Strong writes need not be ordered among each other, so that the order of the last says little about
   * those before: the cells keep a second one, a weak one rather than a strong one, and the weak reads.
   */
  #writeStrongly(page: Page, cell: number, me: Entry): void {
    this.#checkAll(page, cell);
    const last = page.writers[cell]!;
    if (last !== 0) {
      const weak = !this.#isStrong(page, last);
      if (weak || !this.#isOwn(page.eventOf(last), last)) {
        const other = page.otherWriters[cell]!;
        if (weak || other === 0 || this.#isStrong(page, other)) page.writeToo(cell, last);
      }
    }
    page.write(cell, me);
    if (this.#isStrong(page, page.readers[cell]!)) page.read(cell, 0);
    if (this.#isStrong(page, page.otherReaders[cell]!)) page.readToo(cell, 0);
  }

  #isStrong(page: Page, entry: Entry): boolean {
    return entry !== 0 && this.#events.kindAt(page.eventOf(entry)).strong;
  }

  #checkAll(page: Page, cell: number): void {
    this.#check(page, cell, page.writers[cell]!);
    this.#check(page, cell, page.readers[cell]!);
    this.#check(page, cell, page.otherWriters[cell]!);
    this.#check(page, cell, page.otherReaders[cell]!);
  }

  #check(page: Page, cell: number, entry: Entry): void {
    if (entry !== 0 && !this.#precedes(page, entry)) this.#compare(page, cell, entry);
  }

  /** Reports a race with an access of another thread. */
  #compare(page: Page, cell: number, entry: Entry): void {
    const event = page.eventOf(entry);
    const kind = this.#events.kindAt(event);
    const thread = this.#threadOf(event, entry);
    const me = this.#order.base + this.#own;
    if (this.#areMorallyStrong(kind, thread, this.#kind, me)) return;
    if (kind.strong && kind.effect !== "load" && this.#isObserved(page, cell, entry, kind)) return;
    if (this.#isOptimistic(kind, this.#kind) || this.#isOptimistic(this.#kind, kind)) return;
    this.#races = true;
    this.#onRace(
      { thread, kind },
      { event: this.#event, kind: this.#kind, lane: this.#lane, thread: me, byte: this.#byte, bytes: 1 << page.shift },
    );
  }

  /** Whether an access at a time before `#latest` is ordered before the one that is being checked. */
  #isOrdered(event: number, entry: Entry): boolean {
    const order = this.#order;
    const time = this.#events.times[event]!;
    const warp = this.#events.warps[event]!;
    const { warpsPerBlock } = this.#threads;
    const inBlock = warp - order.firstWarp;
    if (inBlock >= 0 && inBlock < warpsPerBlock) {
      if (time < order.blockTime || (time < order.warpTime && warp === order.number)) {
        this.#settled = event;
        return true;
      }
    } else if (this.#isShared && time < order.begun) {
      // Of a block that had the memory before.
      this.#settled = event;
      return true;
    }
    const clock = order.clocks[this.#own]!;
    if (clock === 0) return false;
    const block = Math.floor(warp / warpsPerBlock);
    return time < this.#threads.timeOf(clock, block, warp - block * warpsPerBlock, entry & 31);
  }

  /** Section 8.7: both are strong, each is in the scope of the other, and they cover the same bytes. */
  #areMorallyStrong(a: AccessKind, threadA: number, b: AccessKind, threadB: number): boolean {
    if (!a.strong || !b.strong || a.access.bits !== b.access.bits) return false;
    return (a.wide && b.wide) || this.#blockOf(threadA) === this.#blockOf(threadB);
  }

  /**
   * The second rule of causality order (8.9.5): a strong write is ordered before what follows a strong read of its
   * value. Such a read is the reader of the cell, which a later strong write would have replaced, or a later atomic
   * operation.
   */
  #isObserved(page: Page, cell: number, entry: Entry, kind: AccessKind): boolean {
    const thread = this.#threadOf(page.eventOf(entry), entry);
    const isObservedBy = (other: Entry): boolean => {
      if (other === 0) return false;
      const event = page.eventOf(other);
      const by = this.#events.kindAt(event);
      return this.#areMorallyStrong(kind, thread, by, this.#threadOf(event, other)) && this.#precedes(page, other);
    };
    if (isObservedBy(page.readers[cell]!) || isObservedBy(page.otherReaders[cell]!)) return true;
    const last = page.writers[cell]!;
    if (last === 0) return false;
    const event = page.eventOf(last);
    const changes = this.#events.kindAt(event).effect === "atomic";
    return changes && this.#threadOf(event, last) !== thread && isObservedBy(last);
  }

  #blockOf(thread: number): number {
    return Math.floor(thread / this.#threads.perBlock);
  }

  /** How far the threads of an event are from the current one in the grid. */
  #distance(event: number): number {
    const warp = this.#events.warps[event]!;
    const { firstWarp, number } = this.#order;
    return warp === number ? 0 : warp >= firstWarp && warp < firstWarp + this.#threads.warpsPerBlock ? 1 : 2;
  }

  /** Whether a load begins an optimistic update: a compare-and-swap of what others change atomically. */
  #isOptimistic(load: AccessKind, change: AccessKind): boolean {
    return (
      load.effect === "load" &&
      change.effect === "atomic" &&
      this.optimistic.has(load.site.code.ir, load.site.instruction)
    );
  }
}
