/*
 * Sets of lanes as 32-bit masks, lane 0 being the lowest bit. Loops that run for every instruction are written out:
 *
 *     for (let m = mask; m !== 0; m &= m - 1) { const lane = lowestLane(m); ... }
 */

/** The lowest lane of a mask, which is not 0. */
export const lowestLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

/** The number of lanes in a mask. */
export function popcount(mask: number): number {
  const pairs = mask - ((mask >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/** The lanes of a mask, the lowest one first. */
export function lanesIn(mask: number): number[] {
  const lanes: number[] = [];
  for (let m = mask; m !== 0; m &= m - 1) lanes.push(lowestLane(m));
  return lanes;
}

/** Visits the lanes of a mask, the lowest one first. */
export function eachLane(mask: number, visit: (lane: number) => void): void {
  for (let m = mask; m !== 0; m &= m - 1) visit(lowestLane(m));
}

/** The lanes of a mask for which something holds. */
export function lanesWhere(mask: number, holds: (lane: number) => boolean): number {
  let found = 0;
  for (let m = mask; m !== 0; m &= m - 1) if (holds(lowestLane(m))) found |= m & -m;
  return found;
}

/** Writes the same value for all lanes of a mask; lane `i` is at `base + i`. */
export function fillLanes(words: Int32Array, base: number, mask: number, value: number): void {
  for (let m = mask; m !== 0; m &= m - 1) words[base + lowestLane(m)] = value;
}

/** All lanes of several masks. */
export const unionOf = (parts: readonly { readonly mask: number }[]): number =>
  parts.reduce((mask, part) => mask | part.mask, 0);

/** A mask in messages: `0x0000ffff`. */
export const maskText = (mask: number): string => `0x${(mask >>> 0).toString(16).padStart(8, "0")}`;
