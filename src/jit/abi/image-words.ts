/**
 * What the launcher tells compiled code about a texture or a surface, in words of 32 bits: the image lies in device
 * memory as a whole. The third axis is the depth, or the layers. `normalized` and `linear`: 0 or 1. `border`: the texel
 * outside, four channels. `compare`: when a depth passes, a bit each: if the value given is less, equal, greater, or
 * neither of these. `seamless`: 1 where texels beyond the edge of a cube's face are those of the next one. `unsettled`:
 * 0, until a fetch has met such a texel: then the launcher has to fetch instead. `sampler`: a handle, which compiled
 * code tells the launcher here. Of images of several samples: their number, and from one to the next (`samplePitch`).
 * `channels`: of a surface whose format counts, in place of what only textures have.
 */
export const imageWords = {
  ...{ base: 0, rowPitch: 1, slicePitch: 2, width: 3, height: 4, depth: 5 },
  ...{ modeX: 6, modeY: 7, modeZ: 8, normalized: 9, linear: 10, border: 11 },
  ...{ texelBytes: 15, compare: 16, seamless: 17, samplePitch: 18, samples: 19 },
  ...{ unsettled: 20, sampler: 21, channels: 6 },
} as const;

/** The number of these words that the launcher writes. */
export const imageWordCount = imageWords.unsettled + 1;

/** The registers of `fragments` that come before these words, and those that both take together. */
const resultRegisters = 8;
export const imageRegisters = 14;

/**
 * Where fetches with levels have what they need, in registers of `fragments`: operands, as the launcher would find
 * them; for each lane how much a level counts; sums of four channels, two registers each; and the four results.
 */
export const levelRegisters = { operands: imageRegisters, weights: 32, sums: 33, results: 41, end: 45 } as const;

/**
 * What `chooseLevels` answers: the launcher has to fetch; each lane fetches from one level; or levels and samples are
 * summed.
 */
export const levelModes = { none: 0, one: 1, summed: 2 } as const;

/** The byte of `fragments` at which the words are, after results of the chunk's lanes. */
export const imageWordsAt = (lanes: number): number => resultRegisters * 4 * lanes;

/** The byte of `fragments` at which the handles of lanes are, where they differ: after the words of any chunk. */
export const handlesAt = 10 * 128;

/** The ways of treating texels outside, as these words have them: those from `wrap` on repeat the image. */
export const imageModes = { clamp: 0, border: 1, wrap: 2, mirror: 3 } as const;

/** How texels lie in memory, and what a fetch makes of them. */
export interface TexelForm {
  /** Bits of a channel. */
  readonly bits: 8 | 16 | 32;
  readonly channels: 1 | 2 | 4;
  /** Bits as they are; integers extended; integers that stand for fractions, of sRGB too; or floats of 16 bits. */
  readonly value: "raw" | "unsigned" | "signed" | "fraction" | "signed fraction" | "sRGB" | "half";
  /** What a fetch from them gives. */
  readonly result: "float" | "integer";
}

/** Forms of which plain fetches have code of their own. */
const commonForms: readonly TexelForm[] = [
  { bits: 32, channels: 1, value: "raw", result: "float" },
  { bits: 32, channels: 4, value: "raw", result: "float" },
  { bits: 8, channels: 4, value: "fraction", result: "float" },
  { bits: 8, channels: 1, value: "fraction", result: "float" },
  { bits: 32, channels: 2, value: "raw", result: "float" },
  { bits: 8, channels: 2, value: "fraction", result: "float" },
  { bits: 16, channels: 1, value: "fraction", result: "float" },
  { bits: 16, channels: 2, value: "fraction", result: "float" },
  { bits: 32, channels: 1, value: "raw", result: "integer" },
  { bits: 8, channels: 4, value: "unsigned", result: "integer" },
  { bits: 8, channels: 1, value: "unsigned", result: "integer" },
  { bits: 16, channels: 1, value: "unsigned", result: "integer" },
  { bits: 32, channels: 2, value: "raw", result: "integer" },
  { bits: 32, channels: 4, value: "raw", result: "integer" },
  { bits: 8, channels: 2, value: "unsigned", result: "integer" },
  { bits: 16, channels: 2, value: "unsigned", result: "integer" },
];

/** The number of these forms, which are the first. */
export const commonFormCount = commonForms.length;

const packed = (bits: 8 | 16, value: TexelForm["value"], result: TexelForm["result"]): TexelForm[] =>
  ([1, 2, 4] as const).map((channels) => ({ bits, channels, value, result }));

/** The forms of texels that compiled code fetches itself; the launcher answers with the number of one, from 1. */
export const texelForms: readonly TexelForm[] = [
  ...commonForms,
  { bits: 16, channels: 4, value: "fraction", result: "float" },
  { bits: 16, channels: 4, value: "unsigned", result: "integer" },
  ...packed(16, "half", "float"),
  ...packed(8, "signed fraction", "float"),
  ...packed(16, "signed fraction", "float"),
  ...packed(8, "signed", "integer"),
  ...packed(16, "signed", "integer"),
  ...packed(8, "sRGB", "float"),
];

/** Added to the number of a form if channels that texels do not have count, too: outside they may not be 0, or 1. */
export const allChannels = 64;

/** The geometries that it fetches from, in the order in which the launcher knows them. */
export const fetchedGeometries = ["1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms", "a2dms"] as const;
/** One of `fetchedGeometries`. */
export type FetchedGeometry = (typeof fetchedGeometries)[number];

/**
 * What an instruction accesses: texels of a texture; raw elements of a surface, whose width counts bytes; or its texels
 * (`formatted`): the launcher answers with the number of their type among `channelTypes`, from 1.
 */
export interface Fetch {
  readonly geometry: FetchedGeometry;
  readonly from: TexelForm["result"] | "surface" | "formatted";
  /** The base level, or one that is given as a float or an integer, the same for all lanes. */
  readonly level: "base" | "float" | "integer";
  /** A sampler of its own takes the place of the texture's. */
  readonly hasSampler: boolean;
}

const sources: readonly Fetch["from"][] = ["float", "integer", "surface", "formatted"];
const levels: readonly Fetch["level"][] = ["base", "float", "integer"];

/** All fetches by their numbers, as compiled code tells them to the launcher. */
const fetches: readonly Fetch[] = fetchedGeometries.flatMap((geometry) =>
  levels.flatMap((level) =>
    sources.flatMap((from) => [false, true].map((hasSampler) => ({ geometry, from, level, hasSampler }))),
  ),
);

/** A fetch as one number. */
export const fetchNumber = ({ geometry, from, level, hasSampler }: Fetch): number =>
  2 *
    ((levels.length * fetchedGeometries.indexOf(geometry) + levels.indexOf(level)) * sources.length +
      sources.indexOf(from)) +
  Number(hasSampler);

/** The fetch of a number. */
export const fetchOf = (number: number): Fetch => fetches[number]!;
