/** A named stretch of addresses: an allocation, or a variable. */
export interface Extent {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** What a variable is aligned to, where that is known. */
  readonly align?: number;
}

/** The index of the last extent that starts at or before `address`, or -1. The list is sorted and does not overlap. */
export function lastAtOrBefore(extents: readonly Extent[], address: number): number {
  let low = 0;
  let high = extents.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (extents[middle]!.start <= address) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The extent that contains the address, or null. */
export function extentAt<E extends Extent>(extents: readonly E[], address: number): E | null {
  const found = extents[lastAtOrBefore(extents, address)];
  return found !== undefined && address < found.end ? found : null;
}

/** The extent nearest to the address, for messages. */
export function nearestExtent<E extends Extent>(extents: readonly E[], address: number): E | null {
  const i = lastAtOrBefore(extents, address);
  const before = extents[i];
  const after = extents[i + 1];
  if (before === undefined || after === undefined) return before ?? after ?? null;
  return address - before.end <= after.start - address ? before : after;
}

/** Where an access of `size` bytes is, seen from an extent: "4 bytes after the end of `x`". */
export function distance(extent: Extent, address: number, size: number): string {
  const what = `${extent.name} (${extent.end - extent.start} bytes)`;
  if (address >= extent.end) return `${address - extent.end} bytes after the end of ${what}`;
  if (address < extent.start) return `${extent.start - address} bytes before ${what}`;
  const at = address - extent.start;
  const past = address + size - extent.end;
  return past > 0 ? `at byte ${at}, ${past} bytes past the end of ${what}` : `at byte ${at} of ${what}`;
}

const minGap = 16;

/**
 * Places variables one after the other, aligned, with a gap after each so that a run past an end is noticed: as large
 * as the variable, up to `maxGap` bytes.
 */
export class Layout {
  readonly extents: Extent[] = [];
  readonly #maxGap: number;
  #end: number;

  constructor(start: number, maxGap = minGap) {
    this.#end = start;
    this.#maxGap = maxGap;
  }

  get end(): number {
    return this.#end;
  }

  place(name: string, size: number, align: number): number {
    const start = Math.ceil(this.#end / align) * align;
    this.extents.push({ start, end: start + size, name, align });
    this.#end = start + size + Math.max(minGap, Math.min(size, this.#maxGap));
    return start;
  }
}

/** The bytes of extents that do not overlap. */
export const bytesIn = (extents: readonly Extent[]): number =>
  extents.reduce((sum, { start, end }) => sum + end - start, 0);
