const pageBits = 10;
const pageBytes = 1 << pageBits;

/** What lies in a cell: who wrote the place last, and who has read it since, as a thread and a stamp each. */
export const writer = 0;
export const reader = 2;
const cellWords = 4;

/**
 * Who accessed 1 KiB of memory: cells of four bytes, or of one byte once a part of a word is accessed. A cell has a thread and a
 * stamp for the last write and for a read; where several threads access a place with nothing that orders them, the page has
 * a second such cell for each place. So a byte of memory takes 4 or 8 bytes, and where words are shared out in parts four times that.
 */
export class Page {
  /** Bytes of a cell, as a power of two. */
  shift: 0 | 2 = 2;
  first: Int32Array;
  second: Int32Array | null = null;

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

  split(): void {
    this.shift = 0;
    this.first = spread(this.first);
    if (this.second !== null) this.second = spread(this.second);
  }
}

export const nextCell = cellWords;

function spread(cells: Int32Array): Int32Array {
  const bytes = new Int32Array(cells.length * 4);
  for (let i = 0; i < bytes.length; i++) bytes[i] = cells[(i >>> 4) * cellWords + (i & 3)]!;
  return bytes;
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

  /** The page of a byte, with cells of one byte if `parts` says that parts of words matter. */
  page(byte: number, parts: boolean): Page {
    const i = byte >>> pageBits;
    const page = (this.#pages[i] ??= new Page(Math.min(pageBytes, this.#bytes - i * pageBytes)));
    if (parts && page.shift !== 0) page.split();
    return page;
  }
}

/** The cells of some shadows. */
export const cellsOf = (shadows: Iterable<Shadow>): Int32Array[] =>
  [...shadows].flatMap((shadow) =>
    shadow.pages.flatMap(({ first, second }) => (second === null ? [first] : [first, second])),
  );

export const inPage = (byte: number): number => byte & (pageBytes - 1);
