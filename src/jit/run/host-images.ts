import type { FoundObject } from "../../machine/images/image-table.ts";
import type { Image, ImageLevel } from "../../machine/images/image.ts";
import { bitsOfFloat, channelInfo, type ChannelType, floatOfBits } from "../../numeric/texel.ts";
import type { Sampler } from "../../machine/images/sampler.ts";
import { hasGeometry } from "../../program/images/fetch.ts";
import { levelsAt } from "../../program/images/lod.ts";
import {
  type Fetch,
  fetchOf,
  imageModes,
  imageWordCount,
  imageWords,
  type TexelForm,
  texelForms,
} from "../abi/image-words.ts";

/** The number of the form that texels have; 0 if compiled code does not know it. */
function formOf({ format: { type, channels } }: Image, result: TexelForm["result"]): number {
  const { bits, value } = channelInfo[type];
  const isFraction = type.includes("norm");
  const own: TexelForm["value"] = isFraction ? "fraction" : bits === 32 ? "raw" : "unsigned";
  // Signed integers that are extended, and floats of 16 bits, are the launcher's.
  if (bits < 32 && !type.startsWith("u")) return 0;
  const kind = value === "float" ? "float" : "integer";
  if (kind !== result) return 0;
  const known = (form: TexelForm): boolean =>
    form.bits === bits && form.channels === channels && form.value === own && form.result === result;
  return texelForms.findIndex(known) + 1;
}

/** Wrapping and mirroring need coordinates that are fractions of the image; outside linear memory there are zeros. */
function modeOf({ address, normalized }: Sampler, { layout }: Image, axis: 0 | 1 | 2): number {
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
  const found = levelsAt(level === "float" ? floatOfBits(lod) : lod, sampler, image.levels);
  return found.length === 1 ? image.sizes[found[0]!.level]! : null;
}

/** Says where a level of an image lies and its size; the third axis is that of layers or of depth. */
function putSize(image: Image, level: ImageLevel, isArray: boolean, words: Int32Array): void {
  words[imageWords.base] = image.base + level.offset;
  words[imageWords.rowPitch] = level.rowPitch;
  words[imageWords.slicePitch] = isArray ? level.layerPitch : level.slicePitch;
  words[imageWords.width] = level.width;
  words[imageWords.height] = level.height;
  words[imageWords.depth] = isArray ? image.planes : level.depth;
}

/** Describes a surface, if it has the geometry of an instruction: faces of a cube are layers. Returns 1, or 0. */
function describeSurface(image: Image, geometry: string, words: Int32Array): number {
  const isArray = image.cube || image.layers !== null;
  const own = `${isArray ? "a" : ""}${image.dimensions}d`;
  if (image.samples > 1 || geometry !== own) return 0;
  putSize(image, image.sizes[0]!, isArray, words);
  words[imageWords.width] = image.width * image.texelBytes;
  return 1;
}

/**
 * Describes a texture in words, if it is one that compiled code fetches from. `lod`: the word that
 * gives the level. Returns the number of its form, or 0.
 */
function describeImage(found: FoundObject, fetch: Fetch, lod: number, words: Int32Array): number {
  if (found === null || typeof found === "string") return 0;
  const { geometry, from } = fetch;
  if (from === "surface") return found.kind === "surface" ? describeSurface(found.image, geometry, words) : 0;
  if (found.kind !== "texture") return 0;
  const { image, sampler, sRGB } = found;
  if (image.cube || image.samples > 1 || sRGB) return 0;
  const isArray = image.layers !== null;
  if (!hasGeometry(image, geometry)) return 0;
  const form = formOf(image, from);
  if (form === 0) return 0;
  const axes = ([0, 1, 2] as const).slice(0, image.dimensions);
  const modes = ([0, 1, 2] as const).map((axis) => modeOf(sampler, image, axis));
  const linear = sampler.filter === "linear" && from === "float";
  // A blend of channels that an image does not have with the border's is the launcher's.
  if (linear && image.format.channels < 4 && axes.some((axis) => modes[axis] === imageModes.border)) return 0;
  const level = levelOf(fetch.level, lod, image, sampler);
  if (level === null) return 0;
  putSize(image, level, isArray, words);
  words[imageWords.modeX] = modes[0]!;
  words[imageWords.modeY] = modes[1]!;
  words[imageWords.modeZ] = modes[2]!;
  words[imageWords.normalized] = sampler.normalized ? 1 : 0;
  words[imageWords.linear] = linear ? 1 : 0;
  for (let c = 0; c < 4; c++) {
    const color = image.layout === "linear" ? 0 : sampler.border[c]!;
    words[imageWords.border + c] = borderWord(color, image.format.type);
  }
  return form;
}

/**
 * Descriptions of textures for compiled code, of which the last is kept: each fetch of each chunk asks, and mostly for
 * the same texture. An object of the table of images stays as it is.
 */
export class ImageDescriptions {
  readonly #words = new Int32Array(imageWordCount);
  #found: FoundObject = null;
  #fetch = -1;
  #lod = 0;
  #form = 0;

  /**
   * Puts the words that describe a texture to a place, for the fetch of a number (`fetchNumber`) and the word that
   * gives its level. Returns the number of the form of its texels; 0, and no words, if compiled code cannot fetch from
   * it.
   */
  put(found: FoundObject, fetch: number, lod: number, words: Int32Array, at: number): number {
    if (found !== this.#found || fetch !== this.#fetch || lod !== this.#lod) {
      this.#form = describeImage(found, fetchOf(fetch), lod, this.#words);
      this.#found = found;
      this.#fetch = fetch;
      this.#lod = lod;
    }
    if (this.#form !== 0) words.set(this.#words, at);
    return this.#form;
  }
}
