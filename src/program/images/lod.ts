import { log2 } from "../../numeric/elementary.ts";
import { weightOne } from "../../numeric/texture-coordinates.ts";
import type { Sampler } from "../../machine/images/sampler.ts";

/** The area of a fetch: by how many texels coordinates change along its two sides. */
export interface Footprint {
  readonly sides: readonly [readonly number[], readonly number[]];
}

/** What is sampled: levels with their weights in units of 1/256, and how many times along the longer side. */
export interface LevelChoice {
  readonly levels: readonly { readonly level: number; readonly weight: number }[];
  readonly samples: number;
  /** Which of the two sides is the longer. */
  readonly major: 0 | 1;
}

const lengthOf = (side: readonly number[]): number => Math.sqrt(side.reduce((sum, d) => sum + d * d, 0));

/**
 * The level of detail of a footprint: the base-2 logarithm of its longer side in texels; with anisotropy that of the
 * longer side divided by the number of samples along it, as EXT_texture_filter_anisotropic has it.
 */
export function lodOfFootprint(
  { sides }: Footprint,
  { maxAnisotropy }: Sampler,
): { readonly lod: number; readonly samples: number; readonly major: 0 | 1 } {
  const [first, second] = [lengthOf(sides[0]), lengthOf(sides[1])];
  const major = second > first ? 1 : 0;
  const [long, short] = major === 0 ? [first, second] : [second, first];
  const ratio = short > 0 ? Math.ceil(long / short) : maxAnisotropy;
  const samples = long > 0 ? Math.max(1, Math.min(ratio, Math.max(1, maxAnisotropy))) : 1;
  return { lod: log2(long / samples), samples, major };
}

/** The levels to sample for a level of detail, of an image with so many of them. */
export function levelsAt(
  lod: number,
  { lodBias, minLod, maxLod, mipFilter }: Sampler,
  levels: number,
): LevelChoice["levels"] {
  const biased = Math.min(Math.max(lod + lodBias, minLod), maxLod);
  const kept = biased === biased ? Math.min(Math.max(biased, 0), levels - 1) : 0;
  if (mipFilter === "point") return [{ level: Math.min(levels - 1, Math.floor(kept + 0.5)), weight: weightOne }];
  const level = Math.floor(kept);
  const weight = Math.floor((kept - level) * weightOne + 0.5);
  if (weight === 0) return [{ level, weight: weightOne }];
  return [
    { level, weight: weightOne - weight },
    { level: Math.min(levels - 1, level + 1), weight },
  ];
}
