import type { FoundObject, ImageTable } from "../../machine/images/image-table.ts";
import type { Image, ImageLevel } from "../../machine/images/image.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import { bitsOfFloat, channelInfo, type ChannelType, channelTypes, floatOfBits } from "../../numeric/texel.ts";
import type { DepthCompare, Sampler } from "../../machine/images/sampler.ts";
import { withSampler } from "../../program/images/fetch.ts";
import type { ObjectOf } from "../../program/images/handles.ts";
import { levelPosition } from "../../program/images/lod.ts";
import { hasGeometry } from "../../program/images/texture-fetch.ts";
import { weightOne } from "../../numeric/texture-coordinates.ts";
import {
  allChannels,
  type Fetch,
  fetchOf,
  imageModes,
  imageWordCount,
  imageWords,
  type TexelForm,
  texelForms,
} from "../abi/image-words.ts";

/** What a fetch makes of the bits of a channel. */
function formedValue(type: ChannelType): TexelForm["value"] {
  const { bits } = channelInfo[type];
  if (bits === 32) return "raw";
  if (type === "f16") return "half";
  if (type.includes("norm")) return type.startsWith("u") ? "fraction" : "signed fraction";
  return type.startsWith("u") ? "unsigned" : "signed";
}

/** The number of the form that texels have; 0 if compiled code does not know it. */
function formOf({ format: { type, channels } }: Image, result: TexelForm["result"], sRGB: boolean): number {
  const { bits, value } = channelInfo[type];
  if ((value === "float" ? "float" : "integer") !== result) return 0;
  const own = sRGB ? "sRGB" : formedValue(type);
  const known = (form: TexelForm): boolean =>
    form.bits === bits && form.channels === channels && form.value === own && form.result === result;
  return texelForms.findIndex(known) + 1;
}

/** Wrapping and mirroring need coordinates that are fractions of the image; outside linear memory there are zeros. */
function modeOf({ address, normalized }: Sampler, { layout, cube }: Image, axis: 0 | 1 | 2): number {
  if (cube) return imageModes.clamp;
  if (layout === "linear") return imageModes.border;
  const mode = imageModes[address[axis]];
  return mode >= imageModes.wrap && !normalized ? imageModes.clamp : mode;
}

/** A channel outside the image, as fetches give it. */
function borderWord(value: number, type: ChannelType): number {
  if (channelInfo[type].value !== "float") return value | 0;
  // What is computed has one NaN; 32-bit floats keep their bits.
  return type !== "f32" && value !== value ? 0x7fff_ffff : bitsOfFloat(value);
}

/**
 * The level from which all lanes fetch, which a word gives. Null if it is two of them, or if floats do not keep their
 * bits.
 */
function levelOf(level: Fetch["level"], lod: number, image: Image, sampler: Sampler): ImageLevel | null {
  if (level === "base") return image.sizes[0]!;
  // Texels of several levels are blended, which leaves one NaN, even where one of them has all the weight.
  const keepsBits = sampler.filter === "point" || level === "integer";
  if (image.levels > 1 && sampler.mipFilter !== "point" && keepsBits) return null;
  const position = levelPosition(level === "float" ? floatOfBits(lod) : lod, sampler, image.levels);
  return position % weightOne === 0 ? image.sizes[position / weightOne]! : null;
}

/** Says where a level of an image lies and its size; the third axis is that of layers, cubes or depth. */
export function putSize(image: Image, level: ImageLevel, isArray: boolean, words: Int32Array): void {
  words[imageWords.base] = image.base + level.offset;
  words[imageWords.rowPitch] = level.rowPitch;
  words[imageWords.slicePitch] = isArray ? level.layerPitch : level.slicePitch;
  words[imageWords.width] = level.width;
  words[imageWords.height] = level.height;
  const layers = image.cube ? image.planes / 6 : image.planes;
  words[imageWords.depth] = isArray ? layers : level.depth;
  words[imageWords.samplePitch] = level.slicePitch;
  words[imageWords.samples] = image.samples;
}

/** When a depth passes: see `imageWords`. */
const passes: { readonly [C in DepthCompare]: number } = {
  ...{ never: 0, lt: 1, eq: 2, le: 3, gt: 4, ge: 6, ne: 13, always: 15 },
};

/**
 * Describes a surface, if it has the geometry of an instruction: faces of a cube are layers. Returns 0 if it has not;
 * else 1, or the number of the type of its texels.
 */
function describeSurface(image: Image, geometry: string, formatted: boolean, words: Int32Array): number {
  const isArray = image.cube || image.layers !== null;
  const own = `${isArray ? "a" : ""}${image.dimensions}d`;
  if (image.samples > 1 || geometry !== own) return 0;
  putSize(image, image.sizes[0]!, isArray, words);
  // Faces of a cube are layers of a surface.
  if (isArray) words[imageWords.depth] = image.planes;
  if (formatted) {
    const { type, channels } = image.format;
    words[imageWords.channels] = channels;
    words[imageWords.texelBytes] = image.texelBytes;
    return 1 + channelTypes.indexOf(type);
  }
  words[imageWords.width] = image.width * image.texelBytes;
  return 1;
}

/** What an instruction names: a texture or a surface, and a sampler if it has one of its own. */
interface FetchedObjects {
  readonly object: FoundObject;
  readonly sampler: FoundObject | "own";
}

/**
 * Describes a texture in words, if it is one that compiled code fetches from. `lod`: the word that
 * gives the level. Returns the number of its form, or 0.
 */
function describeImage({ object, sampler: given }: FetchedObjects, fetch: Fetch, lod: number, words: Int32Array) {
  if (object === null || typeof object === "string") return 0;
  const { geometry, from } = fetch;
  if (from === "surface" || from === "formatted") {
    return object.kind === "surface" ? describeSurface(object.image, geometry, from === "formatted", words) : 0;
  }
  if (object.kind !== "texture") return 0;
  const { image } = object;
  const sampler = given === "own" ? object.sampler : samplerOf(object.sampler, given);
  if (sampler === null || !hasGeometry(image, geometry)) return 0;
  const level = levelOf(fetch.level, lod, image, sampler);
  return level === null ? 0 : describeTexture({ ...object, sampler }, from, level, words);
}

/**
 * Describes a level of a texture whose geometry fits. Returns the number of the form of its texels; 0 for those that
 * compiled code does not know.
 */
export function describeTexture(
  { image, sampler, sRGB }: Omit<ObjectOf<"texture">, "kind">,
  from: TexelForm["result"],
  level: ImageLevel,
  words: Int32Array,
): number {
  const form = formOf(image, from, sRGB);
  if (form === 0) return 0;
  const modes = ([0, 1, 2] as const).map((axis) => modeOf(sampler, image, axis));
  const linear = sampler.filter === "linear" && from === "float";
  putSize(image, level, image.cube || image.layers !== null, words);
  words[imageWords.modeX] = modes[0]!;
  words[imageWords.modeY] = modes[1]!;
  words[imageWords.modeZ] = modes[2]!;
  words[imageWords.normalized] = sampler.normalized || image.cube ? 1 : 0;
  words[imageWords.linear] = linear ? 1 : 0;
  for (let c = 0; c < 4; c++) {
    const color = image.layout === "linear" ? 0 : sampler.border[c]!;
    words[imageWords.border + c] = borderWord(color, image.format.type);
  }
  words[imageWords.texelBytes] = image.texelBytes;
  words[imageWords.compare] = passes[sampler.compare];
  words[imageWords.seamless] = sampler.seamless ? 1 : 0;
  words[imageWords.unsettled] = 0;
  const hasBorder = modes.slice(0, image.dimensions).includes(imageModes.border);
  return linear && hasBorder && image.format.channels < 4 ? form + allChannels : form;
}

/** The sampler of an instruction in place of the texture's own; null if it is none. */
export function samplerOf(own: Sampler, given: FoundObject): Sampler | null {
  if (given === null || typeof given === "string" || given.kind !== "sampler") return null;
  return withSampler(own, given.sampler);
}

/** What a description is of, and the description: the form of texels, and the words. */
interface Description {
  object: FoundObject;
  sampler: FetchedObjects["sampler"];
  fetch: number;
  level: number;
  form: number;
  readonly words: Int32Array;
}

/** Descriptions that are kept: more than kernels have textures, mostly. A power of two. */
const keptDescriptions = 16;

/**
 * Descriptions of textures for compiled code, of which some are kept: each fetch of each chunk asks, and mostly for the
 * same few textures. An object of the table of images stays as it is.
 */
export class ImageDescriptions {
  readonly #kept = Array.from(
    { length: keptDescriptions },
    (): Description => ({
      ...{ object: null, sampler: "own", fetch: -1, level: 0, form: 0 },
      words: new Int32Array(imageWordCount),
    }),
  );

  /**
   * Puts the words that describe a texture to a place, for the fetch of a number (`fetchNumber`) and the word that
   * gives its level. Returns the number of the form of its texels; 0, and no words, if compiled code cannot fetch from
   * it.
   */
  put(
    images: ImageTable,
    { high, low }: AddressParts,
    { fetch, level }: { readonly fetch: number; readonly level: number },
    words: Int32Array,
    at: number,
  ): number {
    const object = images.find(high, low);
    const samplerAt = at + imageWords.sampler;
    const sampler = fetchOf(fetch).hasSampler
      ? images.find(words[samplerAt + 1]! >>> 0, words[samplerAt]! >>> 0)
      : "own";
    // The exponents of levels that are floats differ in these bits.
    const kept = this.#kept[(low + 5 * fetch + level + (level >>> 22)) & (keptDescriptions - 1)]!;
    if (object !== kept.object || sampler !== kept.sampler || fetch !== kept.fetch || level !== kept.level) {
      kept.form = describeImage({ object, sampler }, fetchOf(fetch), level, kept.words);
      kept.object = object;
      kept.sampler = sampler;
      kept.fetch = fetch;
      kept.level = level;
    }
    if (kept.form !== 0) words.set(kept.words, at);
    return kept.form;
  }
}
