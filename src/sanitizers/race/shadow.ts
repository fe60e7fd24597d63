import type { Published } from "./published.ts";

const pageBits = 10;
const pageBytes = 1 << pageBits;

/** Bytes of a cell, as a power of two. */
export type CellSize = 0 | 1 | 2;

/** Who accessed a cell: a lane of an event of the page's table, or 0 for nobody. */
export type Entry = number;

/** The entries of cells that nobody has accessed in some way. Never written. */
const nobody = new Uint16Array(pageBytes);

const [fewestEvents, mostEvents] = [32, 1024];

/**
 * Who accessed 1 KiB of memory: cells of four bytes, or of two or one once parts of a word are accessed. Each has the last write
 * and a read behind it, and another of both where several threads access the place with nothing that orders them. There are
 * few events in one page: it has a table of them, and an entry takes two bytes.
 */
export class Page {
  shift: CellSize = 2;
  /** By cell. */
  writers = nobody;
  readers = nobody;
  otherWriters = nobody;
  otherReaders = nobody;
  /** Numbers of events, each at its slot; 0 is a free slot. Slot 0 is never used. */
  events = new Int32Array(fewestEvents);
  #count = 0;
  /** By cell, what the value brings to those who acquire it. */
  published: (Published | null)[] | null = null;
  readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  get cells(): number {
    return this.bytes >>> this.shift;
  }

  write(cell: number, by: Entry): void {
    if (this.writers === nobody) this.writers = new Uint16Array(this.cells);
    this.writers[cell] = by;
  }

  read(cell: number, by: Entry): void {
    if (this.readers === nobody) this.readers = new Uint16Array(this.cells);
    this.readers[cell] = by;
  }

  writeToo(cell: number, by: Entry): void {
    if (this.otherWriters === nobody) this.otherWriters = new Uint16Array(this.cells);
    this.otherWriters[cell] = by;
  }

  readToo(cell: number, by: Entry): void {
    if (this.otherReaders === nobody) this.otherReaders = new Uint16Array(this.cells);
    this.otherReaders[cell] = by;
  }

  /** Nothing but this write is remembered of a cell. */
  overwrite(cell: number, by: Entry): void {
    this.write(cell, by);
    if (this.readers !== nobody) this.readers[cell] = 0;
    if (this.otherWriters !== nobody) this.otherWriters[cell] = 0;
    if (this.otherReaders !== nobody) this.otherReaders[cell] = 0;
  }

  /** The entry of lane 0 at an event; that of another lane is as much more. */
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

  /** Forgets events that are in no cell any more, and of too many the oldest, with what they did. */
  rehash(): void {
    const { events } = this;
    /** By old slot: whether it is in a cell, and then the new one. */
    const slots = new Uint16Array(events.length);
    for (const cells of this.#entries) for (let i = 0; i < cells.length; i++) slots[cells[i]! >>> 5] = 1;
    let used = 0;
    for (let slot = 1; slot < slots.length; slot++) used += slots[slot]!;
    const room = Math.min(mostEvents, events.length * (2 * used > events.length ? 2 : 1));
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
    return [this.writers, this.readers, this.otherWriters, this.otherReaders].filter((cells) => cells !== nobody);
  }

  publishedAt(cell: number): Published | null {
    return this.published?.[cell] ?? null;
  }

  publish(cell: number, value: Published | null): void {
    if (value === null && this.published === null) return;
    this.published ??= Array.from({ length: this.cells }, () => null);
    this.published[cell] = value;
  }

  /** Makes its cells smaller. Who accessed one has accessed all of its parts. */
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
  cells === nobody ? nobody : Uint16Array.from({ length: cells.length << shift }, (_, i) => cells[i >>> shift]!);

/** Who accessed a stretch of memory. Pages are made when they are first accessed. */
export class Shadow {
  readonly #pages: (Page | undefined)[];
  readonly #bytes: number;

  constructor(bytes: number) {
    this.#bytes = (bytes + 3) & ~3;
    this.#pages = Array.from({ length: Math.ceil(bytes / pageBytes) });
  }

  /** Those that there are, with the byte at which each begins. */
  get pages(): (readonly [start: number, page: Page])[] {
    return this.#pages.flatMap((page, i) => (page === undefined ? [] : [[i * pageBytes, page] as const]));
  }

  /** The page of a byte, with cells of that size or smaller ones. */
  page(byte: number, size: CellSize): Page {
    const i = byte >>> pageBits;
    const page = (this.#pages[i] ??= new Page(Math.min(pageBytes, this.#bytes - i * pageBytes)));
    if (page.shift > size) page.split(size);
    return page;
  }
}

export const inPage = (byte: number): number => byte & (pageBytes - 1);
