import { coordinatesOf, type ImageFetch, type ImageGeometry, type UnitOpOf } from "../../ir/index.ts";
import { cubePoint, cubeStep } from "../../numeric/cube-map.ts";
import { numberToF16 } from "../../numeric/half.ts";
import { bitsOfFloat, channelInfo, floatOfBits } from "../../numeric/texel.ts";
import type { Image, ImageLevel } from "../../machine/images/image.ts";
import type { Sampler } from "../../machine/images/sampler.ts";
import { forEachLane } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { imageMismatch, requireObject } from "./handles.ts";
import { type LevelChoice, levelsAt, lodOfFootprint } from "./lod.ts";
import { gatherTexels, type Sampled, sampleLevel, type SamplePlace } from "./sample.ts";

/** The operands of a fetch, as one lane gives them. */
export interface FetchOperands {
  readonly sample: number;
  readonly layer: number;
  readonly coordinates: readonly number[];
  /** The level, or the elements of two gradients. */
  readonly lod: readonly number[];
  readonly offsets: readonly number[];
  readonly reference: number | null;
  /** No level below this is sampled; null if it is not given, and of the base level. */
  readonly leastLevel: number | null;
}

function operandsOf(fetch: ImageFetch, call: UnitCall, lane: number): FetchOperands {
  const { geometry, integers } = fetch;
  let next = 2;
  const word = (): number => call.word(next++, lane);
  const float = (): number => floatOfBits(word());
  const many = (count: number, read: () => number): number[] => Array.from({ length: count }, read);
  const sample = geometry.endsWith("ms") ? word() >>> 0 : 0;
  const isArray = geometry.startsWith("a");
  const layer = isArray ? word() >>> 0 : 0;
  const rest = coordinatesOf[geometry] - (next - 2);
  const coordinates = many(rest, integers ? word : float);
  const levels = { base: 0, level: 1, gradients: 2 * fetch.gradients }[fetch.level];
  const lod = many(levels, fetch.level === "level" && integers ? word : float);
  const offsets = many(fetch.offsets, word);
  const reference = fetch.compares ? float() : null;
  return { sample, layer, coordinates, lod, offsets, reference, leastLevel: null };
}

const axesOf: { readonly [G in ImageGeometry]: 1 | 2 | 3 } = {
  ...{ "1d": 1, a1d: 1, "2d": 2, a2d: 2, "3d": 3, cube: 2, acube: 2, "2dms": 2, a2dms: 2 },
};

/**
 * Whether an image is of a geometry. One of two dimensions that has one row is of one dimension too: NVIDIA's
 * volumeRender makes and fetches such a table.
 */
export const hasGeometry = (image: Image, geometry: ImageGeometry): boolean =>
  (image.dimensions === axesOf[geometry] || (axesOf[geometry] === 1 && image.dimensions === 2 && image.height === 1)) &&
  image.cube === geometry.endsWith("cube") &&
  (image.layers !== null) === geometry.startsWith("a") &&
  image.samples > 1 === geometry.endsWith("ms");

/** @throws Fault if the image does not have the geometry of a fetch, or texels of another type */
function checkImage(fetch: ImageFetch, call: UnitCall, lane: number, image: Image): void {
  const mismatch = (wanted: string): never => {
    throw imageMismatch(call, lane, image, wanted);
  };
  if (!hasGeometry(image, fetch.geometry)) mismatch(`fetches from one with .${fetch.geometry}`);
  const isFloat = channelInfo[image.format.type].value === "float";
  const wantsFloat = fetch.result !== "u32" && fetch.result !== "s32";
  if (fetch.compares) {
    if (!isFloat || !wantsFloat) mismatch("compares depths, which are floats");
  } else if (isFloat !== wantsFloat) mismatch(`fetches .${fetch.result}`);
}

/** A sampler below whose least level there is another one; NaN is none. */
const withLeast = (sampler: Sampler, least: number): Sampler => {
  const minLod = Math.max(sampler.minLod, least === least ? least : sampler.minLod);
  return { ...sampler, minLod, maxLod: Math.max(sampler.maxLod, minLod) };
};

/** Which levels a lane samples, and how often. */
function levelsOf(sampled: Sampled, { coordinates, lod, leastLevel }: FetchOperands): LevelChoice {
  const { fetch, image } = sampled;
  const count = image.levels;
  const one = { samples: 1, major: 0 } as const;
  const sampler = leastLevel === null ? sampled.sampler : withLeast(sampled.sampler, leastLevel);
  if (fetch.level === "base") return { ...one, levels: [{ level: 0, weight: 256 }] };
  if (fetch.level === "level") return { ...one, levels: levelsAt(lod[0]!, sampler, count) };
  const { width, height, depth } = image;
  const sizes = [width, height, depth];
  const side = (from: number): number[] => {
    const step = lod.slice(from, from + fetch.gradients);
    const along = image.cube ? cubeStep(coordinates, step) : step.slice(0, image.dimensions);
    return along.map((d, axis) => (sampler.normalized || image.cube ? d * sizes[axis]! : d));
  };
  const found = lodOfFootprint({ sides: [side(0), side(fetch.gradients)] }, sampler);
  return { ...found, levels: levelsAt(found.lod, sampler, count) };
}

/** The place of a fetch: layers are clamped, and a direction meets the face of a cube. */
function placeOf({ image }: Sampled, { sample, layer, coordinates, offsets }: FetchOperands): SamplePlace {
  const at = { layer: Math.min(layer, (image.layers ?? 1) - 1), sample: Math.min(sample, image.samples - 1), offsets };
  if (!image.cube) return { ...at, at: coordinates, face: 0 };
  const { face, s, t } = cubePoint(coordinates);
  return { ...at, at: [s, t], face };
}

/** Where the samples along the longer side of a footprint are taken, from the middle. */
function samplePlaces(sampled: Sampled, operands: FetchOperands, choice: LevelChoice): SamplePlace[] {
  const place = placeOf(sampled, operands);
  const { samples, major } = choice;
  if (samples === 1) return [place];
  const { gradients } = sampled.fetch;
  const step = operands.lod.slice(major * gradients, (major + 1) * gradients);
  return Array.from({ length: samples }, (_, i) => {
    const along = (i + 1) / (samples + 1) - 0.5;
    const coordinates = operands.coordinates.map((c, axis) => Math.fround(c + (step[axis] ?? 0) * along));
    return placeOf(sampled, { ...operands, coordinates });
  });
}

/** The components that a lane fetches: numbers of binary64 that are not rounded yet. */
export function componentsOf(sampled: Sampled, operands: FetchOperands): readonly number[] {
  const { fetch, image } = sampled;
  const sizeOf = (level: number): ImageLevel => image.sizes[level]!;
  const choice = levelsOf(sampled, operands);
  if (fetch.component !== null) {
    // Levels are not blended where texels are not: the nearer of two counts.
    const [first, second = first] = choice.levels;
    const { level } = second!.weight > first!.weight ? second! : first!;
    return gatherTexels(sampled, sizeOf(level), placeOf(sampled, operands), fetch.component);
  }
  const places = samplePlaces(sampled, operands, choice);
  if (places.length === 1 && choice.levels.length === 1) {
    return sampleLevel(sampled, sizeOf(choice.levels[0]!.level), places[0]!);
  }
  const sum = [0, 0, 0, 0];
  for (const place of places) {
    for (const { level, weight } of choice.levels) {
      sampleLevel(sampled, sizeOf(level), place).forEach((value, c) => {
        sum[c] = sum[c]! + value * weight;
      });
    }
  }
  return sum.map((value) => value / (256 * places.length));
}

/** Whether results are texels of 32-bit floats as they lie in memory: nothing is computed from them. */
export function isRaw(
  { result, compares, integers, component, level }: ImageFetch,
  { format, levels }: Image,
  sampler: Sampler,
) {
  if (result !== "f32" || format.type !== "f32" || compares) return false;
  if (component !== null) return true;
  const isOneLevel = level === "base" || levels === 1 || sampler.mipFilter === "point";
  const isOneSample = level !== "gradients" || sampler.maxAnisotropy <= 1;
  return (integers || sampler.filter === "point") && isOneLevel && isOneSample;
}

/** The bits of a result of 32 bits; there is one NaN. */
export const floatBits = (value: number): number => (value === value ? bitsOfFloat(value) : 0x7fff_ffff);

/**
 * A sampler in place of a texture's own: it may force coordinates not to be normalized, but not the reverse (5.3.2).
 */
const withSampler = (own: Sampler, given: Sampler): Sampler => ({
  ...given,
  normalized: given.normalized && own.normalized,
});

/** Fetches from textures for each lane (sections 9.7.10.3 and 9.7.10.4). */
export const fetchImage = ({ fetch }: UnitOpOf<"image-fetch">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const { image, sampler: own, sRGB } = requireObject(call, lane, 0, "texture");
    const sampler = fetch.hasSampler ? withSampler(own, requireObject(call, lane, 1, "sampler").sampler) : own;
    checkImage(fetch, call, lane, image);
    const operands = operandsOf(fetch, call, lane);
    const reading = { sRGB, raw: isRaw(fetch, image, sampler) };
    const sampled = { call, lane, image, sampler, reading, fetch, reference: operands.reference };
    const values = componentsOf(sampled, operands);
    switch (fetch.result) {
      case "f32":
        for (const [c, value] of values.entries()) call.give(c, lane, reading.raw ? value : floatBits(value));
        break;
      case "u32":
      case "s32":
        for (const [c, value] of values.entries()) call.give(c, lane, value | 0);
        break;
      case "f16":
        for (const [c, value] of values.entries()) call.give(c, lane, numberToF16(value));
        break;
      case "f16x2":
        for (const c of [0, 2]) call.give(c / 2, lane, numberToF16(values[c]!) | (numberToF16(values[c + 1]!) << 16));
        break;
    }
    // All of an image is in memory.
    call.give(fetch.result === "f16x2" ? 2 : 4, lane, 1);
  });
