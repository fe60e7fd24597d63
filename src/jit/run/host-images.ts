import type { FoundObject } from "../../machine/images/image-table.ts";
import { bitsOfFloat } from "../../numeric/texel.ts";
import type { Sampler } from "../../machine/images/sampler.ts";
import { imageModes, imageWords } from "../abi/image-words.ts";

/** Wrapping and mirroring need coordinates that are fractions of the image. */
function modeOf({ address, normalized }: Sampler, axis: 0 | 1): number {
  const mode = imageModes[address[axis]];
  return mode >= imageModes.wrap && !normalized ? imageModes.clamp : mode;
}

/**
 * Describes a texture in words from a place on, if it is one that compiled code fetches from: of two dimensions, of
 * 32-bit floats, one or four to a texel. Returns how many, or 0.
 */
export function describeImage(found: FoundObject, words: Int32Array, at: number): number {
  if (found === null || typeof found === "string" || found.kind !== "texture") return 0;
  const { image, sampler } = found;
  const { type, channels } = image.format;
  if (type !== "f32" || (channels !== 1 && channels !== 4)) return 0;
  if (image.dimensions !== 2 || image.cube || image.layers !== null || image.samples > 1) return 0;
  const modeX = modeOf(sampler, 0);
  const modeY = modeOf(sampler, 1);
  // Channels that an image does not have are constants where there is no border.
  if (channels === 1 && (modeX === imageModes.border || modeY === imageModes.border)) return 0;
  const level = image.sizes[0]!;
  words[at + imageWords.base] = image.base;
  words[at + imageWords.rowPitch] = level.rowPitch;
  words[at + imageWords.width] = level.width;
  words[at + imageWords.height] = level.height;
  words[at + imageWords.modeX] = modeX;
  words[at + imageWords.modeY] = modeY;
  words[at + imageWords.normalized] = sampler.normalized ? 1 : 0;
  words[at + imageWords.linear] = sampler.filter === "linear" ? 1 : 0;
  for (let c = 0; c < 4; c++) words[at + imageWords.border + c] = bitsOfFloat(sampler.border[c]!);
  return channels;
}
