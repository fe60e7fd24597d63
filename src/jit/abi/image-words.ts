/**
 * What the launcher tells compiled code about a texture or a surface, in words of 32 bits: the image lies in device
 * memory as a whole. The third axis is the depth, or the layers. `normalized` and `linear`: 0 or 1. `border`: the texel
 * outside, four channels.
 */
export const imageWords = {
  ...{ base: 0, rowPitch: 1, slicePitch: 2, width: 3, height: 4, depth: 5 },
  ...{ modeX: 6, modeY: 7, modeZ: 8, normalized: 9, linear: 10, border: 11 },
} as const;

/** The number of these words. */
export const imageWordCount = imageWords.border + 4;

/** The registers of `fragments` that come before these words, and those that both take together. */
const resultRegisters = 8;
export const imageRegisters = 12;

/** The byte of `fragments` at which the words are, after results of the chunk's lanes. */
export const imageWordsAt = (lanes: number): number => resultRegisters * 4 * lanes;

/** The ways of treating texels outside, as these words have them: those from `wrap` on repeat the image. */
export const imageModes = { clamp: 0, border: 1, wrap: 2, mirror: 3 } as const;

/** How texels lie in memory, and what a fetch makes of them. */
export interface TexelForm {
  /** Bits of a channel. */
  readonly bits: 8 | 16 | 32;
  readonly channels: 1 | 2 | 4;
  /** Bits as they are; integers extended with zeros; or integers that stand for fractions. */
  readonly value: "raw" | "unsigned" | "fraction";
  /** What a fetch from them gives. */
  readonly result: "float" | "integer";
}

/** The forms of texels that compiled code fetches itself; the launcher answers with the number of one, from 1. */
export const texelForms: readonly TexelForm[] = [
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

/** The geometries that it fetches from, in the order in which the launcher knows them. */
export const fetchedGeometries = ["1d", "2d", "3d", "a1d", "a2d"] as const;
/** One of `fetchedGeometries`. */
export type FetchedGeometry = (typeof fetchedGeometries)[number];

/** What an instruction accesses: texels of a texture, or the raw elements of a surface, whose width counts bytes. */
export interface Fetch {
  readonly geometry: FetchedGeometry;
  readonly from: TexelForm["result"] | "surface";
  /** The base level, or one that is given as a float or an integer, the same for all lanes. */
  readonly level: "base" | "float" | "integer";
}

const sources: readonly Fetch["from"][] = ["float", "integer", "surface"];
const levels: readonly Fetch["level"][] = ["base", "float", "integer"];

/** A fetch as one number, as compiled code tells it to the launcher. */
export const fetchNumber = ({ geometry, from, level }: Fetch): number =>
  (levels.length * fetchedGeometries.indexOf(geometry) + levels.indexOf(level)) * sources.length +
  sources.indexOf(from);

/** All fetches by their numbers. */
const fetches: readonly Fetch[] = fetchedGeometries.flatMap((geometry) =>
  levels.flatMap((level) => sources.map((from) => ({ geometry, from, level }))),
);

/** The fetch of a number. */
export const fetchOf = (number: number): Fetch => fetches[number]!;
