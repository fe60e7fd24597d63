import { errors, require } from "../base/errors.ts";
import type { ProcessState } from "../state/process-state.ts";
import { advanced, copyBytes, type Place, placeOf } from "./copies.ts";

/** Rows and slices of rows in memory: the bytes from one row to the next, and the rows from one slice to the next. */
export interface Region {
  readonly address: bigint;
  readonly pitch: number;
  readonly rows: number;
}

/** Bytes in a row, rows, slices. */
export interface Extent {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}

export const isEmpty = ({ width, height, depth }: Extent): boolean => width === 0 || height === 0 || depth === 0;

/** Bytes from the first to the last of a region. */
const spanOf = ({ pitch, rows }: Region, { width, height, depth }: Extent): number =>
  (depth - 1) * pitch * rows + (height - 1) * pitch + width;

/** Finds the memory of a region. Throws if its rows overlap, or device memory does not have all of it. */
export function placeOfRegion(process: ProcessState, region: Region, extent: Extent): Place {
  require(extent.height * extent.depth <= 1 || extent.width <= region.pitch, errors.invalidPitchValue);
  require(region.address !== 0n);
  return placeOf(process, region.address, spanOf(region, extent));
}

/** Calls a function for each row: where it begins, counted from the first byte of each region. */
export function eachRow(
  { height, depth }: Extent,
  regions: readonly Region[],
  row: (at: readonly number[]) => void,
): void {
  for (let z = 0; z < depth; z++) {
    for (let y = 0; y < height; y++) row(regions.map(({ pitch, rows }) => (z * rows + y) * pitch));
  }
}

/** Copies the rows of one region to those of another. */
export function copyRows(
  process: ProcessState,
  [to, from]: readonly [Place, Place],
  regions: readonly [Region, Region],
  extent: Extent,
): void {
  eachRow(extent, regions, ([a = 0, b = 0]) => {
    copyBytes(process, advanced(to, a), advanced(from, b), extent.width);
  });
}
