import type { ImageFetch } from "../../ir/index.ts";
import { acrossEdge } from "../../numeric/cube-map.ts";
import { bitsOfFloat, channelInfo } from "../../numeric/texel.ts";
import {
  addressed,
  type AddressMode,
  inTexels,
  linearTexels,
  texelAt,
  weightOne,
} from "../../numeric/texture-coordinates.ts";
import type { Image, ImageLevel } from "../../machine/images/image.ts";
import type { DepthCompare, Sampler } from "../../machine/images/sampler.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { readTexel, type TexelReading } from "./texels.ts";

/** A texture that a lane samples. */
export interface Sampled {
  readonly call: UnitCall;
  readonly lane: number;
  readonly image: Image;
  readonly sampler: Sampler;
  readonly reading: TexelReading;
  readonly fetch: ImageFetch;
  /** What texels are compared with; null if they are not. */
  readonly reference: number | null;
}

/** A place in a level: coordinates by dimension, in texels or from 0 to 1 as the sampler has them. */
export interface SamplePlace {
  readonly at: readonly number[];
  readonly offsets: readonly number[];
  /** The layer, and the face of a cube. */
  readonly layer: number;
  readonly face: number;
  readonly sample: number;
}

/** A texel that counts, by `weight`, which is a whole number. */
interface Tap {
  readonly texel: readonly number[];
  readonly weight: number;
}

const passes: { readonly [C in DepthCompare]: (value: number, texel: number) => boolean } = {
  never: () => false,
  lt: (value, texel) => value < texel,
  eq: (value, texel) => value === texel,
  le: (value, texel) => value <= texel,
  gt: (value, texel) => value > texel,
  ne: (value, texel) => value !== texel,
  ge: (value, texel) => value >= texel,
  always: () => true,
};

/** The addressing of an axis: wrapping and mirroring need normalized coordinates, and cubes have no border. */
function modeOf({ sampler, image, fetch }: Sampled, axis: number): AddressMode {
  const mode = sampler.address[axis]!;
  if (image.cube) return "clamp";
  const repeats = mode === "wrap" || mode === "mirror";
  return repeats && (!sampler.normalized || fetch.integers) ? "clamp" : mode;
}

const sizesOf = ({ width, height, depth }: ImageLevel): readonly number[] => [width, height, depth];

/** A texel by its indices, inside the image or not. Null beyond the corner of a cube. */
function texelOf(
  sampled: Sampled,
  level: ImageLevel,
  place: SamplePlace,
  indices: readonly number[],
): readonly number[] | null {
  const { call, lane, image, sampler, reading, reference } = sampled;
  const [layer, face, inside] = planeOf(sampled, level, place, indices) ?? [0, 0, null];
  if (inside === null) return null;
  const isOutside = inside.some((i) => i < 0);
  const slice = image.samples > 1 ? place.sample : (inside[2] ?? 0);
  const at = { level, x: inside[0]!, y: inside[1] ?? 0, slice, layer: layer * (image.cube ? 6 : 1) + face };
  const texel = isOutside ? outsideTexel(sampled) : readTexel(call, lane, image, at, reading);
  if (reference === null) return texel;
  const passed = passes[sampler.compare](reference, texel[0]!) ? 1 : 0;
  return [passed, passed, passed, passed];
}

/** Outside linear memory there are zeros. */
function outsideTexel({ image, sampler, reading }: Sampled): readonly number[] {
  if (image.layout === "linear") return [0, 0, 0, 0];
  if (reading.raw) return sampler.border.map(bitsOfFloat);
  return channelInfo[image.format.type].value === "float" ? sampler.border.map(Math.fround) : sampler.border;
}

function planeOf(
  sampled: Sampled,
  level: ImageLevel,
  { layer, face }: SamplePlace,
  indices: readonly number[],
): readonly [layer: number, face: number, indices: readonly number[]] | null {
  const { image, sampler } = sampled;
  if (image.cube && sampler.seamless) {
    const found = acrossEdge({ face, i: indices[0]!, j: indices[1]! }, level.width);
    return found === null ? null : [layer, found.face, [found.i, found.j]];
  }
  const sizes = sizesOf(level);
  const isLinear = image.layout === "linear";
  return [
    layer,
    face,
    indices.map((i, axis) => addressed(i, sizes[axis]!, isLinear ? "border" : modeOf(sampled, axis))),
  ];
}

/** The texel at a place. */
function pointTexel(sampled: Sampled, level: ImageLevel, place: SamplePlace): readonly number[] {
  const sizes = sizesOf(level);
  const indices = place.at.map((coordinate, axis) => {
    const size = sizes[axis]!;
    const texel = texelAt(positionOf(sampled, coordinate, size));
    // A point of a face is on that face, its edges and corners too.
    if (sampled.image.cube) return Math.max(0, Math.min(texel, size - 1));
    return (texel + (place.offsets[axis] ?? 0)) | 0;
  });
  return texelOf(sampled, level, place, indices)!;
}

const positionOf = ({ sampler, fetch, image }: Sampled, coordinate: number, size: number): number =>
  fetch.integers ? coordinate : inTexels(coordinate, size, sampler.normalized || image.cube);

/**
 * The texels around a place: 2, 4 or 8, the first axis fastest, with weights whose sum is 256 to the number of axes.
 */
function linearTaps(sampled: Sampled, level: ImageLevel, place: SamplePlace): Tap[] {
  const sizes = sizesOf(level);
  const axes = place.at.map((coordinate, axis) => linearTexels(positionOf(sampled, coordinate, sizes[axis]!)));
  const taps: { texel: readonly number[] | null; weight: number }[] = [];
  for (let corner = 0; corner < 1 << axes.length; corner++) {
    let weight = 1;
    const indices = axes.map(({ first, weight: second }, axis) => {
      const isSecond = (corner >> axis) & 1;
      weight *= isSecond ? second : weightOne - second;
      return (first + isSecond + (place.offsets[axis] ?? 0)) | 0;
    });
    taps.push({ texel: texelOf(sampled, level, place, indices), weight });
  }
  return taps.map(({ texel, weight }) => ({ texel: texel ?? meanOf(taps), weight }));
}

/** Beyond the corner of a cube is the mean of the three texels around it. */
function meanOf(taps: readonly { readonly texel: readonly number[] | null }[]): readonly number[] {
  const known = taps.flatMap(({ texel }) => (texel === null ? [] : [texel]));
  return [0, 1, 2, 3].map((c) => known.reduce((sum, texel) => sum + texel[c]!, 0) / known.length);
}

/**
 * The components of a texture at a place of a level: the texel there, or the weighted sum of those around it, as a
 * number of binary64. A texel of weight 0 counts too, as NaN and infinity times 0.
 */
export function sampleLevel(sampled: Sampled, level: ImageLevel, place: SamplePlace): readonly number[] {
  if (sampled.sampler.filter === "point" || sampled.fetch.integers) return pointTexel(sampled, level, place);
  const taps = linearTaps(sampled, level, place);
  const unit = 1 / weightOne ** place.at.length;
  return [0, 1, 2, 3].map((c) => taps.reduce((sum, { texel, weight }) => sum + texel[c]! * weight, 0) * unit);
}

/** One component of the four texels around a place: (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j). */
export function gatherTexels(sampled: Sampled, level: ImageLevel, place: SamplePlace, component: number): number[] {
  const taps = linearTaps(sampled, level, place);
  return [2, 3, 1, 0].map((corner) => taps[corner]!.texel[component]!);
}
