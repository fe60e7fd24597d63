import type { ImageFetch } from "../../ir/index.ts";
import { acrossEdge } from "../../numeric/cube-map.ts";
import { bitsOfFloat, channelInfo } from "../../numeric/texel.ts";
import {
  addressed,
  type AddressMode,
  inTexels,
  linearFirst,
  linearWeight,
  texelAt,
  weightOne,
} from "../../numeric/texture-coordinates.ts";
import type { Image, ImageLevel } from "../../machine/images/image.ts";
import type { DepthCompare, Sampler } from "../../machine/images/sampler.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { TexelReader } from "./texel-reader.ts";
import type { TexelReading } from "./texels.ts";

/** How texels of an image are sampled. */
export interface Sampled {
  readonly image: Image;
  readonly sampler: Sampler;
  readonly reading: TexelReading;
  readonly fetch: ImageFetch;
}

/** A place in a level, filled anew for each lane. */
export interface SamplePlace {
  /** Coordinates by dimension, in texels or from 0 to 1 as the sampler has them. */
  readonly at: Float64Array;
  readonly offsets: Int32Array;
  /** The layer, and the face of a cube. */
  layer: number;
  face: number;
  sample: number;
  /** What texels are compared with, if they are. */
  reference: number;
}

function passes(compare: DepthCompare, value: number, texel: number): boolean {
  switch (compare) {
    case "never":
      return false;
    case "lt":
      return value < texel;
    case "eq":
      return value === texel;
    case "le":
      return value <= texel;
    case "gt":
      return value > texel;
    case "ne":
      return value !== texel;
    case "ge":
      return value >= texel;
    case "always":
      return true;
  }
}

/** The addressing of an axis: wrapping and mirroring need normalized coordinates, and cubes have no border. */
function modeOf({ sampler, image, fetch }: Sampled, axis: number): AddressMode {
  const mode = sampler.address[axis]!;
  if (image.cube) return "clamp";
  if (image.layout === "linear") return "border";
  const repeats = mode === "wrap" || mode === "mirror";
  return repeats && (!sampler.normalized || fetch.integers) ? "clamp" : mode;
}

/** Outside linear memory there are zeros. */
function outsideTexel({ image, sampler, reading }: Sampled): Float64Array {
  if (image.layout === "linear") return new Float64Array(4);
  if (reading.raw) return Float64Array.from(sampler.border, bitsOfFloat);
  const isFloat = channelInfo[image.format.type].value === "float";
  return Float64Array.from(sampler.border, isFloat ? Math.fround : undefined);
}

const channels = 4;
/** The texels around a place of three dimensions. */
const mostTaps = 8;

/**
 * Samples one image for one lane after the other: the texel at a place of a level, or the weighted sum of those around
 * it. Nothing is allocated for a lane.
 */
export class LevelSampler {
  /** The components found last: numbers of binary64 that are not rounded yet, or bits where texels are raw. */
  readonly value = new Float64Array(channels);
  readonly #image: Image;
  readonly #reader: TexelReader;
  readonly #axes: number;
  readonly #modes: readonly AddressMode[];
  readonly #outside: Float64Array;
  readonly #compare: DepthCompare | null;
  readonly #isSeamless: boolean;
  readonly #isPoint: boolean;
  readonly #integers: boolean;
  readonly #normalized: boolean;
  /** Of the lane that is sampled, by axis: the texels, those before the place, and how much the next ones count. */
  readonly #indices = new Int32Array(3);
  readonly #first = new Int32Array(3);
  readonly #weights = new Int32Array(3);
  readonly #taps = new Float64Array(channels * mostTaps);

  /** `axes`: how many coordinates there are; those of a face are two. */
  constructor(sampled: Sampled, axes: number) {
    const { image, sampler, reading, fetch } = sampled;
    this.#image = image;
    this.#reader = new TexelReader(image, reading);
    this.#axes = axes;
    this.#modes = [0, 1, 2].map((axis) => modeOf(sampled, axis));
    this.#outside = outsideTexel(sampled);
    this.#compare = fetch.compares ? sampler.compare : null;
    this.#isSeamless = image.cube && sampler.seamless;
    this.#isPoint = sampler.filter === "point" || fetch.integers;
    this.#integers = fetch.integers;
    this.#normalized = sampler.normalized || image.cube;
  }

  /** The lanes of a call are next. */
  begin(call: UnitCall): void {
    this.#reader.begin(call);
  }

  /** Samples a place of a level. A texel of weight 0 counts too, as NaN and infinity times 0. */
  sample(lane: number, level: ImageLevel, place: SamplePlace): void {
    if (this.#isPoint) this.#samplePoint(lane, level, place);
    else {
      this.#readTaps(lane, level, place);
      this.#sumTaps();
    }
  }

  /** One component of the four texels around a place: (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j). */
  gather(lane: number, level: ImageLevel, place: SamplePlace, component: number): void {
    this.#readTaps(lane, level, place);
    const { value } = this;
    const taps = this.#taps;
    value[0] = taps[2 * channels + component]!;
    value[1] = taps[3 * channels + component]!;
    value[2] = taps[channels + component]!;
    value[3] = taps[component]!;
  }

  #samplePoint(lane: number, level: ImageLevel, place: SamplePlace): void {
    for (let axis = 0; axis < this.#axes; axis++) {
      const size = sizeOf(level, axis);
      const texel = texelAt(this.#position(place.at[axis]!, size));
      // A point of a face is on that face, its edges and corners too.
      this.#indices[axis] = this.#image.cube ? Math.max(0, Math.min(texel, size - 1)) : texel + place.offsets[axis]!;
    }
    this.#read(lane, level, place, this.value, 0);
  }

  #position(coordinate: number, size: number): number {
    return this.#integers ? coordinate : inTexels(coordinate, size, this.#normalized);
  }

  /** Reads the texels around a place: 2, 4 or 8, the first axis fastest. */
  #readTaps(lane: number, level: ImageLevel, place: SamplePlace): void {
    const axes = this.#axes;
    for (let axis = 0; axis < axes; axis++) {
      const position = this.#position(place.at[axis]!, sizeOf(level, axis));
      this.#first[axis] = linearFirst(position);
      this.#weights[axis] = linearWeight(position);
    }
    let missing = -1;
    for (let tap = 0; tap < 1 << axes; tap++) {
      for (let axis = 0; axis < axes; axis++) {
        this.#indices[axis] = this.#first[axis]! + ((tap >> axis) & 1) + place.offsets[axis]!;
      }
      if (!this.#read(lane, level, place, this.#taps, channels * tap)) missing = tap;
    }
    if (missing >= 0) this.#meanOfOthers(missing);
  }

  /** Beyond the corner of a cube is the mean of the three texels around it. */
  #meanOfOthers(missing: number): void {
    const taps = this.#taps;
    for (let c = 0; c < channels; c++) {
      let sum = 0;
      for (let tap = 0; tap < 4; tap++) if (tap !== missing) sum += taps[channels * tap + c]!;
      taps[channels * missing + c] = sum / 3;
    }
  }

  /** Sums texels by weights whose sum is 256 to the number of axes. */
  #sumTaps(): void {
    const { value } = this;
    const axes = this.#axes;
    const taps = this.#taps;
    value.fill(0);
    for (let tap = 0; tap < 1 << axes; tap++) {
      let weight = 1;
      for (let axis = 0; axis < axes; axis++) {
        const second = this.#weights[axis]!;
        weight *= (tap >> axis) & 1 ? second : weightOne - second;
      }
      for (let c = 0; c < channels; c++) value[c] = value[c]! + taps[channels * tap + c]! * weight;
    }
    const unit = 1 / weightOne ** axes;
    for (let c = 0; c < channels; c++) value[c] = value[c]! * unit;
  }

  /** Reads the texel at `#indices`, inside the image or not. Returns false beyond the corner of a cube. */
  #read(lane: number, level: ImageLevel, place: SamplePlace, into: Float64Array, to: number): boolean {
    const axes = this.#axes;
    let x = this.#indices[0]!;
    let y = axes > 1 ? this.#indices[1]! : 0;
    let z = axes > 2 ? this.#indices[2]! : 0;
    let { face } = place;
    const { width } = level;
    if (this.#isSeamless) {
      if (x < 0 || y < 0 || x >= width || y >= width) {
        const found = acrossEdge({ face, i: x, j: y }, width);
        if (found === null) return false;
        face = found.face;
        x = found.i;
        y = found.j;
      }
    } else {
      const modes = this.#modes;
      x = addressed(x, width, modes[0]!);
      if (axes > 1) y = addressed(y, level.height, modes[1]!);
      if (axes > 2) z = addressed(z, level.depth, modes[2]!);
    }
    let texel = this.#outside;
    if (x >= 0 && y >= 0 && z >= 0) {
      const { cube, samples, texelBytes } = this.#image;
      const layer = cube ? 6 * place.layer + face : place.layer;
      const slice = samples > 1 ? place.sample : z;
      const row = level.offset + layer * level.layerPitch + slice * level.slicePitch + y * level.rowPitch;
      this.#reader.read(lane, row + x * texelBytes);
      texel = this.#reader.channels;
    }
    if (this.#compare === null) for (let c = 0; c < channels; c++) into[to + c] = texel[c]!;
    else into.fill(passes(this.#compare, place.reference, texel[0]!) ? 1 : 0, to, to + channels);
    return true;
  }
}

function sizeOf({ width, height, depth }: ImageLevel, axis: number): number {
  if (axis === 0) return width;
  return axis === 1 ? height : depth;
}
