/** The allocations of device code (`malloc`) that it has not freed, by offset: it may free only these. */
export class DeviceHeap implements Iterable<number> {
  /** How many bytes device code may have at a time. Memory is given out beyond that where a launch needs it itself. */
  limit = Infinity;
  #sizes = new Map<number, number>();
  #bytes = 0;

  /** Bytes that device code has. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an allocation. */
  add(offset: number, bytes: number): void {
    this.#sizes.set(offset, bytes);
    this.#bytes += bytes;
  }

  /** Whether device code has an allocation there. */
  has(offset: number): boolean {
    return this.#sizes.has(offset);
  }

  /** Removes an allocation. Returns whether there was one. */
  delete(offset: number): boolean {
    const bytes = this.#sizes.get(offset);
    if (bytes === undefined) return false;
    this.#sizes.delete(offset);
    this.#bytes -= bytes;
    return true;
  }

  /** The offsets of all of them. */
  [Symbol.iterator](): Iterator<number> {
    return this.#sizes.keys();
  }

  /** All of them with their sizes, for `assume`. */
  entries(): readonly (readonly [offset: number, bytes: number])[] {
    return [...this.#sizes];
  }

  /** Makes these all there are. */
  assume(entries: Iterable<readonly [offset: number, bytes: number]>): void {
    this.#sizes = new Map();
    this.#bytes = 0;
    for (const [offset, bytes] of entries) this.add(offset, bytes);
  }
}
