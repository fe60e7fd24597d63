import type { Published } from "./published-value.ts";

const pageBits = 10;
const pageBytes = 1 << pageBits;

/** The size of a cell: the exponent of a power of two, in bytes. */
export type CellSize = 0 | 1 | 2;

/** An access to a cell: a slot of the page's table of events and a lane; 0 for none. */
export type Entry = number;

/** The phase of an mbarrier: its parity, and what those have published that have arrived in the one before. */
export interface Phase {
  parity: number;
  value: Published | null;
  /** The thread that has left this; or -1. */
  writer: number;
}

/** Entries for an access that no cell of a page has seen. Never written. */
const none = new Uint16Array(pageBytes);

const [minEvents, maxEvents] = [32, 1024];

/**
 * The accesses to 1 KiB of memory, in cells of four bytes, or of two or one if parts of a word are accessed. A cell
 * records the last write and a read after it, and a second one of each if several threads access the place unordered. A
 * page has few events: it keeps a table of them, so that an entry takes two bytes.
 */
export class Page {
  shift: CellSize = 2;
  /** Entries by cell. */
  writers = none;
  readers = none;
  otherWriters = none;
  otherReaders = none;
  /** The event number of each slot; 0 for a free slot. Slot 0 is never used. */
  events = new Int32Array(minEvents);
  #count = 0;
  /** By cell, what threads acquire with the value. */
  published: (Published | null)[] | null = null;
  /** By cell at which an mbarrier begins, its phase. */
  readonly phases = new Map<number, Phase>();
  readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  get cells(): number {
    return this.bytes >>> this.shift;
  }

  write(cell: number, by: Entry): void {
    if (this.writers === none) this.writers = new Uint16Array(this.cells);
    this.writers[cell] = by;
  }

  read(cell: number, by: Entry): void {
    if (this.readers === none) this.readers = new Uint16Array(this.cells);
    this.readers[cell] = by;
  }

  writeToo(cell: number, by: Entry): void {
    if (this.otherWriters === none) this.otherWriters = new Uint16Array(this.cells);
    this.otherWriters[cell] = by;
  }

  readToo(cell: number, by: Entry): void {
    if (this.otherReaders === none) this.otherReaders = new Uint16Array(this.cells);
    this.otherReaders[cell] = by;
  }

  /** Records a write and forgets all other accesses to the cell. */
  overwrite(cell: number, by: Entry): void {
    this.write(cell, by);
    if (this.readers !== none) this.readers[cell] = 0;
    if (this.otherWriters !== none) this.otherWriters[cell] = 0;
    if (this.otherReaders !== none) this.otherReaders[cell] = 0;
  }

  /**
   * Does to the cells after one, `count` at most, what has been done to it, as long as they were like it before: its
   * entries then are given. Returns how many.
   */
  repeat(cell: number, count: number, writer: Entry, otherWriter: Entry, reader: Entry, otherReader: Entry): number {
    const { writers, otherWriters, readers, otherReaders } = this;
    const end = cell + 1 + count;
    let at = cell + 1;
    for (; at < end; at++) {
      if (writers[at] !== writer || readers[at] !== reader) break;
      if (otherWriters[at] !== otherWriter || otherReaders[at] !== otherReader) break;
    }
    // What has changed is no longer the array in which nothing is written.
    if (writers[cell] !== writer) writers.fill(writers[cell]!, cell + 1, at);
    if (otherWriters[cell] !== otherWriter) otherWriters.fill(otherWriters[cell]!, cell + 1, at);
    if (readers[cell] !== reader) readers.fill(readers[cell]!, cell + 1, at);
    if (otherReaders[cell] !== otherReader) otherReaders.fill(otherReaders[cell]!, cell + 1, at);
    return at - cell - 1;
  }

  /** The entry of lane 0 of an event. Adding a lane number gives the entry of that lane. */
  entryOf(event: number): Entry {
    if (4 * this.#count >= 3 * this.events.length) this.rehash();
    return this.#slotOf(event) << 5;
  }

  eventOf(entry: Entry): number {
    return this.events[entry >>> 5]!;
  }

  #slotOf(event: number): number {
    const { events } = this;
    const last = events.length - 1;
    let slot = event & last;
    for (;;) {
      if (slot !== 0) {
        const there = events[slot]!;
        if (there === event) return slot;
        if (there === 0) break;
      }
      slot = (slot + 1) & last;
    }
    events[slot] = event;
    this.#count++;
    return slot;
  }

  /** Discards events that are in no cell any more and, if there are still too many, the oldest with their accesses. */
  rehash(): void {
    const { events } = this;
    /** By old slot, whether it is in a cell, and later the new slot. */
    const slots = new Uint16Array(events.length);
    for (const cells of this.#entries) for (let i = 0; i < cells.length; i++) slots[cells[i]! >>> 5] = 1;
    let used = 0;
    for (let slot = 1; slot < slots.length; slot++) used += slots[slot]!;
    const room = Math.min(maxEvents, events.length * (2 * used > events.length ? 2 : 1));
    const oldest = 2 * used > room ? events.filter((_, slot) => slots[slot] === 1).sort()[used - room / 2]! : 0;
    this.events = new Int32Array(room);
    this.#count = 0;
    for (let slot = 1; slot < slots.length; slot++) {
      if (slots[slot] === 1) slots[slot] = events[slot]! < oldest ? 0 : this.#slotOf(events[slot]!) << 5;
    }
    slots[0] = 0;
    for (const cells of this.#entries) {
      for (let i = 0; i < cells.length; i++) {
        const slot = slots[cells[i]! >>> 5]!;
        cells[i] = slot === 0 ? 0 : slot | (cells[i]! & 31);
      }
    }
  }

  get #entries(): Uint16Array[] {
    return [this.writers, this.readers, this.otherWriters, this.otherReaders].filter((cells) => cells !== none);
  }

  publishedAt(cell: number): Published | null {
    return this.published?.[cell] ?? null;
  }

  publish(cell: number, value: Published | null): void {
    if (value === null && this.published === null) return;
    this.published ??= Array.from({ length: this.cells }, () => null);
    this.published[cell] = value;
  }

  /** Splits the cells. An access to a cell counts as one to each of its parts. */
  split(to: CellSize): void {
    const shift = this.shift - to;
    this.shift = to;
    this.writers = spread(this.writers, shift);
    this.readers = spread(this.readers, shift);
    this.otherWriters = spread(this.otherWriters, shift);
    this.otherReaders = spread(this.otherReaders, shift);
    const { published } = this;
    if (published === null) return;
    this.published = null;
    published.forEach((value, i) => {
      this.publish(i << shift, value);
    });
  }
}

const spread = (cells: Uint16Array<ArrayBuffer>, shift: number): Uint16Array<ArrayBuffer> =>
  cells === none ? none : Uint16Array.from({ length: cells.length << shift }, (_, i) => cells[i >>> shift]!);

/** The accesses to a range of memory. Pages are created on first access. */
export class Shadow {
  readonly #pages: (Page | undefined)[];
  readonly #bytes: number;

  constructor(bytes: number) {
    this.#bytes = (bytes + 3) & ~3;
    this.#pages = Array.from({ length: Math.ceil(bytes / pageBytes) });
  }

  /** The existing pages, with the byte at which each begins. */
  get pages(): (readonly [start: number, page: Page])[] {
    return this.#pages.flatMap((page, i) => (page === undefined ? [] : [[i * pageBytes, page] as const]));
  }

  /** The page of a byte, with cells of the given size or smaller. */
  page(byte: number, size: CellSize): Page {
    const i = byte >>> pageBits;
    const page = (this.#pages[i] ??= new Page(Math.min(pageBytes, this.#bytes - i * pageBytes)));
    if (page.shift > size) page.split(size);
    return page;
  }
}

export const inPage = (byte: number): number => byte & (pageBytes - 1);
