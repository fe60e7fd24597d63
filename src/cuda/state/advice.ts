/** Locations by number: a device, or the host; -2 for none. */
export const noLocation = -2;
export const hostLocation = -1;

/** How a program has said that it uses managed memory. It is where all see it in any case. */
export class Advice {
  isReadMostly = false;
  preferred: number = noLocation;
  prefetched: number = noLocation;
  readonly accessedBy: Set<number>;

  constructor(accessedBy: Iterable<number> = []) {
    this.accessedBy = new Set(accessedBy);
  }

  copy(): Advice {
    const made = new Advice(this.accessedBy);
    made.isReadMostly = this.isReadMostly;
    made.preferred = this.preferred;
    made.prefetched = this.prefetched;
    return made;
  }
}

/** Pages for which the same was said, up to a byte. */
interface Part {
  readonly end: number;
  readonly advice: Advice;
}

const pageBytes = 4096;

/** What a program has said of the pages of managed memory. */
export class PageAdvice {
  /** In order; the last one ends with the memory. */
  #parts: readonly Part[];

  constructor(bytes: number) {
    this.#parts = [{ end: Math.ceil(bytes / pageBytes) * pageBytes, advice: new Advice() }];
  }

  /** What was said of the pages in which some bytes lie, of which more is to be said. */
  ofPages(from: number, bytes: number): readonly Advice[] {
    this.#split(Math.floor(from / pageBytes) * pageBytes);
    this.#split(Math.ceil((from + bytes) / pageBytes) * pageBytes);
    return this.within(from, bytes);
  }

  /** What was said of each part of some bytes. */
  within(from: number, bytes: number): readonly Advice[] {
    return this.#parts.flatMap(({ end, advice }, i) => {
      const begin = this.#parts[i - 1]?.end ?? 0;
      return begin < from + bytes && from < end ? advice : [];
    });
  }

  /** Lets a part end at a byte. */
  #split(at: number): void {
    const i = this.#parts.findIndex(({ end }) => at < end);
    const part = this.#parts[i];
    if (part === undefined || at <= (this.#parts[i - 1]?.end ?? 0)) return;
    this.#parts = this.#parts.toSpliced(i, 0, { end: at, advice: part.advice.copy() });
  }
}
