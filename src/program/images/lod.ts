import { log2 } from "../../numeric/elementary.ts";
import { weightOne } from "../../numeric/texture-coordinates.ts";
import type { Sampler } from "../../machine/images/sampler.ts";

/** The area of a fetch, as the level of detail follows from it. */
export interface Footprint {
  readonly lod: number;
  /** How many times it is sampled along its longer side, and which of the two that is. */
  readonly samples: number;
  readonly major: 0 | 1;
}

const lengthOf = (side: Float64Array): number =>
  Math.sqrt(side[0]! * side[0]! + side[1]! * side[1]! + side[2]! * side[2]!);

/**
 * The level of detail of an area whose sides are given in texels: the base-2 logarithm of the longer one; with
 * anisotropy that of the longer side divided by the number of samples along it, as EXT_texture_filter_anisotropic has
 * it.
 */
export function footprintOf(one: Float64Array, other: Float64Array, { maxAnisotropy }: Sampler): Footprint {
  const first = lengthOf(one);
  const second = lengthOf(other);
  const major = second > first ? 1 : 0;
  const long = major === 0 ? first : second;
  const short = major === 0 ? second : first;
  // Infinite sides are equally long.
  const isSquare = long === short;
  const ratio = isSquare ? 1 : short > 0 ? Math.ceil(long / short) : maxAnisotropy;
  const samples = long > 0 ? Math.max(1, Math.min(ratio, Math.max(1, maxAnisotropy))) : 1;
  return { lod: log2(long / samples), samples, major };
}

/**
 * What a level of detail comes to in an image of so many levels, in units of 1/256 of a level: a level, and how much
 * the next one counts. `least`: no level below it is sampled, whatever the sampler says.
 */
export function levelPosition(
  lod: number,
  { lodBias, minLod, maxLod, mipFilter }: Sampler,
  levels: number,
  least = -Infinity,
): number {
  const [from, to] = least > minLod ? [least, Math.max(maxLod, least)] : [minLod, maxLod];
  const biased = Math.min(Math.max(lod + lodBias, from), to);
  const kept = biased === biased ? Math.min(Math.max(biased, 0), levels - 1) : 0;
  const nearest = mipFilter === "point" ? Math.floor(kept + 0.5) * weightOne : Math.floor(kept * weightOne + 0.5);
  return Math.min(nearest, (levels - 1) * weightOne);
}
