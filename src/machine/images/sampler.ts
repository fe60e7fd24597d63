import type { AddressMode } from "../../numeric/texture-coordinates.ts";

/** Which texels make up a result: the one at a position, or those around it. */
export type FilterMode = "point" | "linear";

/** How a value given is compared with texels of a depth texture: the value comes first. */
export type DepthCompare = "never" | "lt" | "eq" | "le" | "gt" | "ne" | "ge" | "always";

/** How a texture is sampled. */
export interface Sampler {
  /** By dimension. */
  readonly address: readonly [AddressMode, AddressMode, AddressMode];
  readonly filter: FilterMode;
  /** Coordinates count from 0 to 1 across the image, and not in texels. */
  readonly normalized: boolean;
  /** The texels outside an image (`border`): floats, or integers where texels are such. */
  readonly border: readonly [number, number, number, number];
  readonly mipFilter: FilterMode;
  /** Is added to a level of detail, which then is kept within a range. */
  readonly lodBias: number;
  readonly minLod: number;
  readonly maxLod: number;
  /** How many times longer than wide the area of a fetch may be; 1: it counts as square. */
  readonly maxAnisotropy: number;
  readonly compare: DepthCompare;
  /** Linear filtering at the edge of a cube's face takes texels of the next face. */
  readonly seamless: boolean;
}

/** A sampler where nothing is asked for: nearest texel of one image, coordinates in texels, which are clamped. */
export const plainSampler: Sampler = {
  address: ["clamp", "clamp", "clamp"],
  filter: "point",
  normalized: false,
  border: [0, 0, 0, 0],
  mipFilter: "point",
  lodBias: 0,
  minLod: 0,
  maxLod: Infinity,
  maxAnisotropy: 1,
  compare: "le",
  seamless: true,
};
