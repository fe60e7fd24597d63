import type { Region } from "../semantics/index.ts";
import type { Lanes } from "./lanes.ts";

export { allLanes, type Lanes, maskOf } from "./lanes.ts";

/** The number of a lane's element, counted from the region's first. */
export function elementOf({ first, vertical, width, horizontal }: Region, lane: number): number {
  const e = lane - first;
  return Math.floor(e / width) * vertical + (e & (width - 1)) * horizontal;
}

/** The byte of the file at which a lane's element begins. */
export const byteOf = (region: Region, bits: number, lane: number): number =>
  region.at + (elementOf(region, lane) * bits) / 8;

/** The bytes of the file at which the elements of lanes begin, in their order. */
export function bytesOf(region: Region, bits: number, { first, count }: Lanes): number[] {
  const bytes = new Array<number>(count);
  for (let i = 0; i < count; i++) bytes[i] = byteOf(region, bits, first + i);
  return bytes;
}

/** The bytes of the file from the first element of some lanes to the end of the last. */
export function extentOf(region: Region, bits: number, { first, count }: Lanes): readonly [from: number, end: number] {
  let from = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (let lane = first; lane < first + count; lane++) {
    const at = byteOf(region, bits, lane);
    if (at < from) from = at;
    if (at > last) last = at;
  }
  return [from, last + bits / 8];
}

/** The distance between adjacent lanes, in elements: 0 for a scalar, 1 for adjacent elements. Null if it varies. */
export function strideOf(region: Region, { first, count }: Lanes): number | null {
  if (count === 1) return 0;
  const { vertical, width, horizontal } = region;
  if (width === 1) return vertical;
  const inOneRow =
    Math.floor((first - region.first) / width) === Math.floor((first + count - 1 - region.first) / width);
  return inOneRow || vertical === width * horizontal ? horizontal : null;
}

/** Whether the elements of all lanes lie within a file of `bytes` bytes. */
export function liesWithin(region: Region, bits: number, { first, count }: Lanes, bytes: number): boolean {
  for (let lane = first; lane < first + count; lane++) {
    const at = byteOf(region, bits, lane);
    if (at < 0 || at + bits / 8 > bytes) return false;
  }
  return true;
}
