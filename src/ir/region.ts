import type { LaneRule } from "./instruction.ts";
import type { Region } from "../semantics/index.ts";

/** The lanes that an instruction is for. */
export type Lanes = Pick<LaneRule, "first" | "count">;

export const allLanes: Lanes = { first: 0, count: 32 };

/** One bit for each of the lanes. */
export const maskOf = ({ first, count }: Lanes): number => (count === 32 ? -1 : ((1 << count) - 1) << first);

/** The element of a lane, counted from the region's first. */
export function elementOf({ first, vertical, width, horizontal }: Region, lane: number): number {
  const e = lane - first;
  return Math.floor(e / width) * vertical + (e & (width - 1)) * horizontal;
}

/** The byte of the file at which a lane's element begins. */
export const byteOf = (region: Region, bits: number, lane: number): number =>
  region.at + (elementOf(region, lane) * bits) / 8;

/** What lies between two lanes, in elements, where that is always the same: 0 for a scalar, 1 for neighbours. Else null. */
export function strideOf(region: Region, { first, count }: Lanes): number | null {
  if (count === 1) return 0;
  const { vertical, width, horizontal } = region;
  if (width === 1) return vertical;
  const inOneRow =
    Math.floor((first - region.first) / width) === Math.floor((first + count - 1 - region.first) / width);
  return inOneRow || vertical === width * horizontal ? horizontal : null;
}

/** Whether all lanes find their element within a file of `bytes`. */
export function liesWithin(region: Region, bits: number, { first, count }: Lanes, bytes: number): boolean {
  for (let lane = first; lane < first + count; lane++) {
    const at = byteOf(region, bits, lane);
    if (at < 0 || at + bits / 8 > bytes) return false;
  }
  return true;
}
