const pageBytes = 0x1_0000;
const pageWords = pageBytes / 4;

/** Shared by all pages that have never been written: most pages of a device. */
const zeros = new Int32Array(pageWords);

/**
 * A copy of the first bytes of a memory, page by page. Pages that are the same in an earlier copy are shared with it.
 */
export class MemoryPages {
  /** Bytes that were copied. */
  readonly length: number;
  /** Bytes of the pages that are shared with no earlier copy. */
  readonly ownBytes: number;
  readonly #pages: readonly Int32Array[];

  /** `length`: a multiple of 4. */
  constructor(memory: Int32Array, length: number, before: MemoryPages | null) {
    this.length = length;
    let own = 0;
    const earlier = before === null ? [] : before.#pages;
    this.#pages = Array.from({ length: Math.ceil(length / pageBytes) }, (_, i) => {
      const page = memory.subarray(i * pageWords, Math.min((i + 1) * pageWords, length / 4));
      const known = earlier[i];
      if (known !== undefined && known.length === page.length && same(known, page)) return known;
      if (page.length === pageWords && same(zeros, page)) return zeros;
      own += page.byteLength;
      return page.slice();
    });
    this.ownBytes = own;
  }

  /** Writes the copy back; the bytes after it, up to `end`, become zeros. */
  restore(memory: Int32Array, end: number): void {
    this.#pages.forEach((page, i) => {
      memory.set(page, i * pageWords);
    });
    if (end > this.length) memory.fill(0, this.length / 4, end / 4);
  }
}

function same(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
