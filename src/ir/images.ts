/** How an instruction sees the image: its dimensions, an array of them (`a`), cubes, or several samples a texel. */
export type ImageGeometry = "1d" | "2d" | "3d" | "a1d" | "a2d" | "cube" | "acube" | "2dms" | "a2dms";

/** How a level of detail is chosen: the base level, one that an operand gives, or by two gradients of coordinates. */
export type LevelMode = "base" | "level" | "gradients";

/** The coordinates of a geometry: a sample, the layer, then as many as it has dimensions. */
export const coordinatesOf: { readonly [G in ImageGeometry]: number } = {
  "1d": 1,
  "2d": 2,
  "3d": 3,
  a1d: 2,
  a2d: 3,
  cube: 3,
  acube: 4,
  "2dms": 3,
  a2dms: 4,
};

/** What a fetch from a texture is given, and what it gives. */
export interface ImageFetch {
  readonly geometry: ImageGeometry;
  /** Coordinates are integers (texels), not floats. There are `coordinatesOf` of them. */
  readonly integers: boolean;
  readonly level: LevelMode;
  /** Elements of each gradient. */
  readonly gradients: number;
  readonly offsets: number;
  /** The last operand is compared with texels. */
  readonly compares: boolean;
  /** The sampler is that of the second handle, not the texture's own. */
  readonly hasSampler: boolean;
  /** Which component of the four texels around a point; null: all components of a filtered one. */
  readonly component: 0 | 1 | 2 | 3 | null;
  /** What results are: numbers of 32 bits, or of 16, one or two in a register. */
  readonly result: "f32" | "u32" | "s32" | "f16" | "f16x2";
}

/** What becomes of coordinates outside a surface: the launch ends, the nearest element counts, or none. */
export type SurfaceBounds = "trap" | "clamp" | "zero";

/** An access to elements of a surface, at the coordinates x, y, z and layer; those that it does not have are 0. */
export interface SurfaceAccess {
  readonly geometry: ImageGeometry;
  readonly bounds: SurfaceBounds;
  /** Elements of raw data, and bits of each; with `formatted`, channels of the surface's format, as 32 bits each. */
  readonly count: number;
  readonly bits: 8 | 16 | 32 | 64;
  /** The first coordinate counts texels, not bytes. */
  readonly formatted: boolean;
}

/** A reduction into an element of a surface; `bits`: as the format's channels are signed or not. */
export interface SurfaceReduction extends SurfaceAccess {
  readonly op: "add" | "min" | "max" | "and" | "or";
  readonly type: "unsigned" | "signed" | "format";
}

/** What can be asked about a texture, sampler or surface. */
export type ImageQuery =
  | ("width" | "height" | "depth" | "channel_data_type" | "channel_order" | "array_size" | "memory_layout")
  | ("normalized_coords" | "num_mipmap_levels" | "num_samples")
  | ("force_unnormalized_coords" | "filter_mode" | "addr_mode_0" | "addr_mode_1" | "addr_mode_2");

/** The kinds of objects that handles refer to. */
export type ImageKind = "texture" | "surface" | "sampler";

/**
 * A value that a sampler message of vISA has for each lane, by the name that the manual gives it. `lod_ai`, `bias_ai`:
 * of an array of cubes the low 9 bits are the layer, and the rest is the float; of other images all is the float.
 */
export type MessageParameter =
  | ("u" | "v" | "r" | "ai" | "lod" | "bias" | "mlod" | "ref" | "si" | "offu" | "offv" | "offr")
  | ("lod_ai" | "bias_ai" | "dudx" | "dudy" | "dvdx" | "dvdy" | "drdx" | "drdy" | "none");

/**
 * A message to the sampler (vISA): what kind of image it samples or loads from is known from the surface alone.
 */
export interface SamplerMessage {
  /** `load`: texels by integer coordinates; `gather`: one component of four texels. */
  readonly kind: "sample" | "load" | "gather";
  /** The operands after the surface and the sampler, in order. Those that are missing are 0. */
  readonly parameters: readonly MessageParameter[];
  readonly level: LevelMode;
  /** In texels, along u, v and r. */
  readonly offsets: readonly [number, number, number];
  /** The channels that are results, from 0; of `gather` the one component. */
  readonly channels: readonly number[];
  readonly component: 0 | 1 | 2 | 3;
  /** Floats among the results have 16 bits. */
  readonly half: boolean;
}
