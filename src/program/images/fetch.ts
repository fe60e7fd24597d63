import type { ImageFetch, UnitOpOf } from "../../ir/index.ts";
import { numberToF16 } from "../../numeric/half.ts";
import { bitsOfFloat, channelInfo, floatOfBits } from "../../numeric/texel.ts";
import type { Image } from "../../machine/images/image.ts";
import type { Sampler } from "../../machine/images/sampler.ts";
import { forEachLane } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { imageMismatch, type ObjectOf, requireObject } from "./handles.ts";
import { hasGeometry, placeWords, TextureFetch } from "./texture-fetch.ts";

/** Reads the operands of a lane; `call` has the words of each. */
export function readOperands(
  fetch: ImageFetch,
  call: Pick<UnitCall, "word">,
  lane: number,
  { operands }: TextureFetch,
): void {
  const { geometry, integers, level } = fetch;
  const { coordinates, lod, offsets } = operands;
  let next = 2;
  if (geometry.endsWith("ms")) operands.sample = call.word(next++, lane) >>> 0;
  if (geometry.startsWith("a")) operands.layer = call.word(next++, lane) >>> 0;
  const number = (isInteger: boolean): number => {
    const word = call.word(next++, lane);
    return isInteger ? word : floatOfBits(word);
  };
  const count = placeWords(geometry);
  for (let i = 0; i < count; i++) coordinates[i] = number(integers);
  if (level === "level") lod[0] = number(integers);
  else if (level === "gradients") for (let i = 0; i < 2 * fetch.gradients; i++) lod[i] = number(false);
  for (let i = 0; i < fetch.offsets; i++) offsets[i] = number(true);
  if (fetch.compares) operands.reference = number(false);
}

/** @throws Fault if the image does not have the geometry of a fetch, or texels of another type */
function checkImage(fetch: ImageFetch, call: UnitCall, lane: number, image: Image): void {
  const mismatch = (wanted: string): never => {
    throw imageMismatch(call, lane, image, wanted);
  };
  if (!hasGeometry(image, fetch.geometry)) mismatch(`fetches from a .${fetch.geometry} one`);
  const isFloat = channelInfo[image.format.type].value === "float";
  const wantsFloat = fetch.result !== "u32" && fetch.result !== "s32";
  if (fetch.compares) {
    if (!isFloat || !wantsFloat) mismatch("compares depths, which are floats");
  } else if (isFloat !== wantsFloat) {
    const fractions = channelInfo[image.format.type].bits < 32 ? ", or integers that are read as fractions" : "";
    mismatch(`fetches .${fetch.result}: ${wantsFloat ? `floats${fractions}` : "integers"}`);
  }
}

/** The bits of a result of 32 bits; there is one NaN. */
export const floatBits = (value: number): number => (value === value ? bitsOfFloat(value) : 0x7fff_ffff);

/**
 * A sampler in place of a texture's own: it may force coordinates not to be normalized, but not the reverse (5.3.2).
 */
export const withSampler = (own: Sampler, given: Sampler): Sampler => ({
  ...given,
  normalized: given.normalized && own.normalized,
});

interface PreparedFetch {
  readonly sampler: ObjectOf<"sampler"> | null;
  readonly unit: TextureFetch;
}

/** By what an instruction fetches and the texture: objects of the table of images stay as they are. */
const prepared = new WeakMap<ImageFetch, WeakMap<ObjectOf<"texture">, PreparedFetch>>();

/** @throws Fault if the texture does not fit the instruction */
function prepare(
  fetch: ImageFetch,
  call: UnitCall,
  lane: number,
  texture: ObjectOf<"texture">,
  sampler: ObjectOf<"sampler"> | null,
): TextureFetch {
  let byTexture = prepared.get(fetch);
  if (byTexture === undefined) prepared.set(fetch, (byTexture = new WeakMap()));
  const known = byTexture.get(texture);
  if (known?.sampler === sampler) return known.unit;
  const { image, sRGB } = texture;
  checkImage(fetch, call, lane, image);
  const used = sampler === null ? texture.sampler : withSampler(texture.sampler, sampler.sampler);
  const unit = new TextureFetch({ fetch, image, sampler: used, sRGB });
  byTexture.set(texture, { sampler, unit });
  return unit;
}

/** Fetches from textures for each lane (sections 9.7.10.3 and 9.7.10.4). */
export function fetchImage({ fetch }: UnitOpOf<"image-fetch">, call: UnitCall): void {
  let last: ObjectOf<"texture"> | null = null;
  let lastSampler: ObjectOf<"sampler"> | null = null;
  let unit: TextureFetch | null = null;
  forEachLane(call, (lane) => {
    const texture = requireObject(call, lane, 0, "texture");
    const sampler = fetch.hasSampler ? requireObject(call, lane, 1, "sampler") : null;
    if (unit === null || texture !== last || sampler !== lastSampler) {
      unit = prepare(fetch, call, lane, texture, sampler);
      unit.begin(call);
      last = texture;
      lastSampler = sampler;
    }
    readOperands(fetch, call, lane, unit);
    giveComponents(fetch, call, lane, unit);
  });
}

/** Gives the results of a lane, and that all of the image is in memory. */
function giveComponents({ result }: ImageFetch, call: UnitCall, lane: number, unit: TextureFetch): void {
  const values = unit.components(lane);
  switch (result) {
    case "f32":
      for (let c = 0; c < 4; c++) call.give(c, lane, unit.isRaw ? values[c]! : floatBits(values[c]!));
      break;
    case "u32":
    case "s32":
      for (let c = 0; c < 4; c++) call.give(c, lane, values[c]! | 0);
      break;
    case "f16":
      for (let c = 0; c < 4; c++) call.give(c, lane, numberToF16(values[c]!));
      break;
    case "f16x2":
      for (let c = 0; c < 4; c += 2) {
        call.give(c / 2, lane, numberToF16(values[c]!) | (numberToF16(values[c + 1]!) << 16));
      }
      break;
  }
  call.give(result === "f16x2" ? 2 : 4, lane, 1);
}
