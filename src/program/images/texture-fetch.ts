import { coordinatesOf, type ImageFetch, type ImageGeometry } from "../../ir/index.ts";
import { cubePoint, cubeStep } from "../../numeric/cube-map.ts";
import { weightOne } from "../../numeric/texture-coordinates.ts";
import type { Image } from "../../machine/images/image.ts";
import type { Sampler } from "../../machine/images/sampler.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { type Footprint, footprintOf, levelPosition } from "./lod.ts";
import { LevelSampler, type SamplePlace } from "./sample.ts";

/** The operands of a fetch, filled anew for each lane. */
export interface FetchOperands {
  sample: number;
  layer: number;
  readonly coordinates: Float64Array;
  /** The level, or the elements of two gradients. */
  readonly lod: Float64Array;
  readonly offsets: Int32Array;
  /** What texels are compared with, if they are. */
  reference: number;
  /** No level below this is sampled, if it is a number. */
  leastLevel: number;
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

/** Whether results are texels of 32-bit floats as they lie in memory: nothing is computed from them. */
function isRaw(
  { result, compares, integers, component, level }: ImageFetch,
  { format, levels, cube }: Image,
  sampler: Sampler,
): boolean {
  if (result !== "f32" || format.type !== "f32" || compares) return false;
  // Beyond the corner of a cube is a mean.
  if (component !== null) return !(cube && sampler.seamless);
  const isOneLevel = level === "base" || levels === 1 || sampler.mipFilter === "point";
  const isOneSample = level !== "gradients" || sampler.maxAnisotropy <= 1;
  return (integers || sampler.filter === "point") && isOneLevel && isOneSample;
}

/** What fetches of one kind need to know of the texture that they sample. */
export interface FetchedTexture {
  readonly fetch: ImageFetch;
  readonly image: Image;
  readonly sampler: Sampler;
  readonly sRGB: boolean;
}

/** What a level of detail comes to: see `levelPosition`, and `Footprint`. */
export interface ChosenLevels extends Pick<Footprint, "samples" | "major"> {
  readonly position: number;
}

const baseLevel: ChosenLevels = { position: 0, samples: 1, major: 0 };

/**
 * Fetches of one kind from one texture: what can be worked out once is, and nothing is allocated for a lane but a
 * point of a cube or a footprint.
 */
export class TextureFetch {
  /** The operands of the lane that is next. */
  readonly operands: FetchOperands = {
    ...{ sample: 0, layer: 0, reference: 0, leastLevel: -Infinity },
    coordinates: new Float64Array(3),
    lod: new Float64Array(6),
    offsets: new Int32Array(3),
  };
  /** Whether components are the bits of 32-bit floats. */
  readonly isRaw: boolean;
  readonly #fetch: ImageFetch;
  readonly #image: Image;
  readonly #sampler: Sampler;
  readonly #levels: LevelSampler;
  readonly #place: SamplePlace;
  /** One of several samples along a gradient, and the sides of a footprint. */
  readonly #direction = new Float64Array(3);
  readonly #sides = [new Float64Array(3), new Float64Array(3)] as const;
  readonly #sum = new Float64Array(4);

  constructor({ fetch, image, sampler, sRGB }: FetchedTexture) {
    this.#fetch = fetch;
    this.#image = image;
    this.#sampler = sampler;
    this.isRaw = isRaw(fetch, image, sampler);
    const reading = { sRGB, raw: this.isRaw };
    this.#levels = new LevelSampler({ image, sampler, reading, fetch }, axesOf[fetch.geometry]);
    const { offsets } = this.operands;
    this.#place = { at: new Float64Array(3), offsets, layer: 0, face: 0, sample: 0, reference: 0 };
  }

  /** The lanes of a call are next. */
  begin(call: UnitCall): void {
    this.#levels.begin(call);
  }

  /**
   * The components that a lane fetches, until the next one does: numbers of binary64 that are not rounded yet, or bits
   * if they are raw.
   */
  components(lane: number): Float64Array {
    const { component } = this.#fetch;
    const { sizes } = this.#image;
    const { operands } = this;
    const chosen = this.chooseLevels();
    const { position, samples } = chosen;
    const first = Math.floor(position / weightOne);
    const weight = position - first * weightOne;
    const levels = this.#levels;
    if (component !== null) {
      // Levels are not blended where texels are not: the nearer of two counts.
      this.#moveTo(operands.coordinates);
      levels.gather(lane, sizes[weight > weightOne / 2 ? first + 1 : first]!, this.#place, component);
      return levels.value;
    }
    if (samples === 1) {
      this.#moveTo(operands.coordinates);
      if (weight === 0) {
        levels.sample(lane, sizes[first]!, this.#place);
        return levels.value;
      }
    }
    const sum = this.#sum;
    sum.fill(0);
    for (let i = 0; i < samples; i++) {
      if (samples > 1) this.#moveTo(this.alongGradient(chosen, i));
      this.#add(lane, first, weightOne - weight);
      if (weight > 0) this.#add(lane, first + 1, weight);
    }
    for (let c = 0; c < 4; c++) sum[c] = sum[c]! / (weightOne * samples);
    return sum;
  }

  /** The levels that the operands of a lane ask for, and how many samples of each. */
  chooseLevels(): ChosenLevels {
    const { level } = this.#fetch;
    if (level === "base") return baseLevel;
    if (level === "level") return { position: this.#position(this.operands.lod[0]!), samples: 1, major: 0 };
    const { lod, samples, major } = this.#footprint();
    return { position: this.#position(lod), samples, major };
  }

  /** The coordinates of one of several samples, which lie along the longer gradient, as of now. */
  alongGradient({ samples, major }: Omit<ChosenLevels, "position">, sample: number): Float64Array {
    const { coordinates, lod } = this.operands;
    const { gradients } = this.#fetch;
    const direction = this.#direction;
    const along = (sample + 1) / (samples + 1) - 0.5;
    for (let axis = 0; axis < 3; axis++) {
      const step = axis < gradients ? lod[major * gradients + axis]! : 0;
      direction[axis] = Math.fround(coordinates[axis]! + step * along);
    }
    return direction;
  }

  #add(lane: number, level: number, weight: number): void {
    const sum = this.#sum;
    const { value } = this.#levels;
    this.#levels.sample(lane, this.#image.sizes[level]!, this.#place);
    for (let c = 0; c < 4; c++) sum[c] = sum[c]! + value[c]! * weight;
  }

  #position(lod: number): number {
    return levelPosition(lod, this.#sampler, this.#image.levels, this.operands.leastLevel);
  }

  #footprint() {
    const [one, other] = this.#sides;
    this.#findSide(one, 0);
    this.#findSide(other, this.#fetch.gradients);
    return footprintOf(one, other, this.#sampler);
  }

  /** A gradient, from an element of `lod` on, in texels of the base level. */
  #findSide(side: Float64Array, from: number): void {
    const { lod, coordinates } = this.operands;
    const { width, height, depth, cube } = this.#image;
    const { gradients } = this.#fetch;
    for (let axis = 0; axis < 3; axis++) side[axis] = axis < gradients ? lod[from + axis]! : 0;
    if (cube) {
      const [s, t] = cubeStep(coordinates, side);
      side[0] = s * width;
      side[1] = t * height;
      side[2] = 0;
    } else if (this.#sampler.normalized) {
      side[0] = side[0]! * width;
      side[1] = side[1]! * height;
      side[2] = side[2]! * depth;
    }
  }

  /** The place of a fetch: layers are clamped, and a direction meets the face of a cube. */
  #moveTo(coordinates: Float64Array): void {
    const place = this.#place;
    const { layer, sample, reference } = this.operands;
    const { layers, samples, cube } = this.#image;
    place.layer = Math.min(layer, (layers ?? 1) - 1);
    place.sample = Math.min(sample, samples - 1);
    place.reference = reference;
    if (cube) {
      const { face, s, t } = cubePoint(coordinates);
      place.face = face;
      place.at[0] = s;
      place.at[1] = t;
    } else for (let axis = 0; axis < 3; axis++) place.at[axis] = coordinates[axis]!;
  }
}

/** The number of words of a fetch's operands that are coordinates, after a sample and a layer. */
export const placeWords = (geometry: ImageGeometry): number =>
  coordinatesOf[geometry] - (geometry.endsWith("ms") ? 1 : 0) - (geometry.startsWith("a") ? 1 : 0);
