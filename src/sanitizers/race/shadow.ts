import type { Published } from "./published.ts";

const pageBits = 10;
const pageBytes = 1 << pageBits;

/** What lies in a cell: who wrote the place last, and who has read it since, as a thread and a stamp each. */
export const writer = 0;
export const reader = 2;
const cellWords = 4;

/** Bytes of a cell, as a power of two. */
export type CellSize = 0 | 1 | 2;

/**
 * Who accessed 1 KiB of memory: cells of four bytes, or of two or one once parts of a word are accessed. A cell has a thread and a
 * stamp for the last write and for a read; where several threads access a place with nothing that orders them, the page has
 * a second such cell for each place. So a byte of memory takes 4 or 8 bytes, in halves of words twice and in bytes four times that.
 */
export class Page {
  shift: CellSize = 2;
  first: Int32Array;
  second: Int32Array | null = null;
  /** By cell, what the value brings to those who acquire it. */
  published: (Published | null)[] | null = null;

  constructor(bytes: number) {
    this.first = new Int32Array((bytes >>> 2) * cellWords);
  }

  /** Where the cell of a byte of the page is. */
  cellAt(byte: number): number {
    return (byte >>> this.shift) * cellWords;
  }

  needSecond(): Int32Array {
    return (this.second ??= new Int32Array(this.first.length));
  }

  publishedAt(cell: number): Published | null {
    return this.published?.[cell / cellWords] ?? null;
  }

  publish(cell: number, value: Published | null): void {
    if (value === null && this.published === null) return;
    this.published ??= Array.from({ length: this.first.length / cellWords }, () => null);
    this.published[cell / cellWords] = value;
  }

  /** Makes its cells smaller. Who accessed one has accessed all of its parts. */
  split(to: CellSize): void {
    const parts = 1 << (this.shift - to);
    this.shift = to;
    this.first = spread(this.first, parts);
    if (this.second !== null) this.second = spread(this.second, parts);
    const { published } = this;
    if (published === null) return;
    this.published = null;
    published.forEach((value, i) => {
      this.publish(i * parts * cellWords, value);
    });
  }
}

export const nextCell = cellWords;

function spread(cells: Int32Array, parts: number): Int32Array {
  const into = new Int32Array(cells.length * parts);
  for (let i = 0; i < into.length; i += cellWords) {
    const from = Math.floor(i / (parts * cellWords)) * cellWords;
    for (let word = 0; word < cellWords; word++) into[i + word] = cells[from + word]!;
  }
  return into;
}

/** Who accessed a stretch of memory. Pages are made when they are first accessed. */
export class Shadow {
  readonly #pages: (Page | undefined)[];
  readonly #bytes: number;

  constructor(bytes: number) {
    this.#bytes = (bytes + 3) & ~3;
    this.#pages = Array.from({ length: Math.ceil(bytes / pageBytes) });
  }

  get pages(): Page[] {
    return this.#pages.filter((page) => page !== undefined);
  }

  /** The page of a byte, with cells of that size or smaller ones. */
  page(byte: number, size: CellSize): Page {
    const i = byte >>> pageBits;
    const page = (this.#pages[i] ??= new Page(Math.min(pageBytes, this.#bytes - i * pageBytes)));
    if (page.shift > size) page.split(size);
    return page;
  }
}

/** The cells of some shadows. */
export const cellsOf = (shadows: Iterable<Shadow>): Int32Array[] =>
  [...shadows].flatMap((shadow) =>
    shadow.pages.flatMap(({ first, second }) => (second === null ? [first] : [first, second])),
  );

export const inPage = (byte: number): number => byte & (pageBytes - 1);
