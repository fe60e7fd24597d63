import { fillBytes } from "../../machine/memory/fill.ts";
import { errors, require } from "../base/errors.ts";
import type { ProcessState } from "../state/process-state.ts";
import { advanced, copyBytes, type Place, placeOf } from "./copies.ts";

/** Rows and slices of rows in memory: the bytes from one row to the next, and the rows from one slice to the next. */
export interface Region {
  readonly address: bigint;
  readonly pitch: number;
  readonly rows: number;
  /** In an array: what there is of it from here on. Its rows may be longer in memory. */
  readonly left?: Extent;
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

/**
 * Finds the memory of a region. Throws if its rows overlap, or an array or device memory does not have all of it. One
 * row needs no pitch: NVIDIA's volumeRender passes 0.
 */
export function placeOfRegion(process: ProcessState, region: Region, extent: Extent): Place {
  const isOneRow = extent.height === 1 && extent.depth === 1;
  require(region.address !== 0n);
  require(extent.width <= region.pitch || (isOneRow && region.pitch === 0), errors.invalidPitchValue);
  const { left = extent } = region;
  require(extent.width <= left.width && extent.height <= left.height && extent.depth <= left.depth);
  return placeOf(process, region.address, spanOf(region, extent));
}

/** Calls a function for each row: where it begins, counted from the first byte of each region. */
function eachRow({ height, depth }: Extent, regions: readonly Region[], row: (at: readonly number[]) => void): void {
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

/** What a fill writes: elements of 1, 2 or 4 bytes in each row of a region. */
export interface Fill {
  readonly region: Region;
  readonly extent: Extent;
  readonly value: number;
  readonly elementBytes: number;
}

/** Fills the rows of device memory. */
export function fillRows(process: ProcessState, place: Place, { region, extent, value, elementBytes }: Fill): void {
  if (place.kind !== "device") return;
  const { memory } = process.machine;
  eachRow(extent, [region], ([at = 0]) => {
    const from = place.offset + at;
    memory.noteWritten(from, extent.width);
    fillBytes(memory.views, from, from + extent.width, value, elementBytes);
  });
  place.allocation?.written?.();
}
