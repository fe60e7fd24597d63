/**
 * Ranges of addresses that are free. Ranges that touch are one, so that what many small allocations leave behind serves
 * a large one.
 */
export class FreeRanges {
  readonly #endOf = new Map<number, number>();
  readonly #startOf = new Map<number, number>();
  readonly #startsBySize = new Map<number, Set<number>>();

  constructor(ranges: Iterable<readonly [start: number, end: number]> = []) {
    for (const [start, end] of ranges) this.#insert(start, end);
  }

  /** All of them as (start, end), in no order. */
  entries(): IterableIterator<[start: number, end: number]> {
    return this.#endOf.entries();
  }

  /** Makes a range free that is not. */
  add(start: number, end: number): void {
    const first = this.#startOf.get(start) ?? start;
    const last = this.#endOf.get(end) ?? end;
    if (first < start) this.#delete(first, start);
    if (last > end) this.#delete(end, last);
    this.#insert(first, last);
  }

  /** Takes what is free of some ranges. */
  remove(ranges: readonly (readonly [start: number, end: number])[]): void {
    const sorted = [...ranges].sort(([a], [b]) => a - b);
    const free = [...this.#endOf].sort(([a], [b]) => a - b);
    let first = 0;
    for (const [start, end] of free) {
      while (first < sorted.length && sorted[first]![1] <= start) first++;
      let from = start;
      for (let i = first; i < sorted.length && sorted[i]![0] < end; i++) {
        if (i === first) this.#delete(start, end);
        if (from < sorted[i]![0]) this.#insert(from, sorted[i]![0]);
        from = sorted[i]![1];
      }
      if (start < from && from < end) this.#insert(from, end);
    }
  }

  /** Takes bytes that begin at a multiple of `align` from the smallest range that has them. Returns their start. */
  take(bytes: number, align: number): number | undefined {
    const exact = this.#firstOf(bytes, bytes, align);
    if (exact !== undefined) {
      this.#delete(exact, exact + bytes);
      return exact;
    }
    let best: { from: number; size: number } | null = null;
    for (const size of this.#startsBySize.keys()) {
      if (size <= bytes || (best !== null && size >= best.size)) continue;
      const from = this.#firstOf(size, bytes, align);
      if (from !== undefined) best = { from, size };
    }
    if (best === null) return undefined;
    const start = Math.ceil(best.from / align) * align;
    this.#delete(best.from, best.from + best.size);
    if (best.from < start) this.#insert(best.from, start);
    if (start + bytes < best.from + best.size) this.#insert(start + bytes, best.from + best.size);
    return start;
  }

  /** The start of the range that ends there; `end` itself if none does. */
  startBefore(end: number): number {
    return this.#startOf.get(end) ?? end;
  }

  /** Takes the last part of the range that ends there, from `start` on, which is not before the range. */
  takeEnd(start: number, end: number): void {
    const from = this.startBefore(end);
    if (from === end) return;
    this.#delete(from, end);
    if (from < start) this.#insert(from, Math.min(start, end));
  }

  clear(): void {
    this.#endOf.clear();
    this.#startOf.clear();
    this.#startsBySize.clear();
  }

  /** The first range of a size in which bytes that begin at a multiple of `align` have room. */
  #firstOf(size: number, bytes: number, align: number): number | undefined {
    for (const start of this.#startsBySize.get(size) ?? []) {
      if (Math.ceil(start / align) * align + bytes <= start + size) return start;
    }
    return undefined;
  }

  #insert(start: number, end: number): void {
    this.#endOf.set(start, end);
    this.#startOf.set(end, start);
    const starts = this.#startsBySize.get(end - start);
    if (starts === undefined) this.#startsBySize.set(end - start, new Set([start]));
    else starts.add(start);
  }

  #delete(start: number, end: number): void {
    this.#endOf.delete(start);
    this.#startOf.delete(end);
    const starts = this.#startsBySize.get(end - start)!;
    starts.delete(start);
    if (starts.size === 0) this.#startsBySize.delete(end - start);
  }
}
