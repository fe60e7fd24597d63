import { coordinatesOf, type ImageFetch } from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import type { Image } from "../../machine/images/image.ts";
import type { Sampler } from "../../machine/images/sampler.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Grid } from "../../machine/state/launch-state.ts";
import { weightOne } from "../../numeric/texture-coordinates.ts";
import { bitsOfFloat, floatOfBits } from "../../numeric/texel.ts";
import { readOperands } from "../../program/images/fetch.ts";
import type { ObjectOf } from "../../program/images/handles.ts";
import { levelPosition } from "../../program/images/lod.ts";
import { hasGeometry, placeWords, TextureFetch } from "../../program/images/texture-fetch.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { imageWordCount, imageWordsAt, levelModes, levelRegisters } from "../abi/image-words.ts";
import { KnownFootprints } from "./known-footprints.ts";
import { describeTexture, putSize, samplerOf } from "./host-images.ts";

/** Registers of the two handles, which come before all other operands. */
const handleRegisters = 4;

/** A texture, and how an instruction fetches from it. */
interface Fetched {
  readonly fetch: ImageFetch;
  readonly texture: ObjectOf<"texture">;
  readonly sampler: ObjectOf<"sampler"> | null;
  readonly unit: TextureFetch;
  readonly sampled: { readonly image: Image; readonly sampler: Sampler };
  /** The form of its texels, and the words that describe it. */
  readonly form: number;
  readonly words: Int32Array;
  /** There is one NaN among results even where nothing is added up, though plain fetches keep all bits. */
  readonly needsSums: boolean;
  /** Null: levels follow from coordinates, too. */
  readonly footprints: KnownFootprints | null;
}

/** Chooses levels of textures for compiled code, which then fetches from one level after the other for its lanes. */
export class HostLevels {
  readonly #grid: Grid;
  readonly #kernel: CompiledKernel;
  readonly #siteOf: (number: number) => Site;
  readonly #known = new Map<ImageFetch, Fetched>();
  #last: Fetched | null = null;
  /** The lanes that fetch, what they have chosen (`ChosenLevels`), and coordinates of those with several samples. */
  #lanes = 0;
  #mostSamples = 1;
  readonly #positions = new Int32Array(32);
  readonly #samples = new Int32Array(32);
  readonly #majors = new Int32Array(32);
  readonly #coordinates = new Float64Array(3 * 32);
  /** The sample and the level of two that are next, and the lanes for which they still are. */
  #sample = 0;
  #side: 0 | 1 = 0;
  #pending = 0;

  constructor(grid: Grid, kernel: CompiledKernel, siteOf: (number: number) => Site) {
    this.#grid = grid;
    this.#kernel = kernel;
    this.#siteOf = siteOf;
  }

  /** Chooses levels for lanes. Returns one of `levelModes`. */
  choose(context: number, site: number, mask: number): number {
    const { op } = this.#siteOf(site).instruction;
    if (op.kind !== "unit" || op.unit.op !== "image-fetch") throw new Error(`${op.kind} fetches no texels`);
    const { fetch } = op.unit;
    const fetched = this.#fetchedBy(fetch, context, lowestLane(mask));
    if (fetched === null) return levelModes.none;
    this.#lanes = mask;
    this.#mostSamples = 1;
    const isSingle = fetch.level === "level";
    if (isSingle) this.#samples.fill(1);
    const { i32 } = this.#grid.memory.views;
    const lods = this.#register(context, levelRegisters.operands + handleRegisters + coordinatesOf[fetch.geometry]);
    const { sampler, image } = fetched.sampled;
    let parts = 0;
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const lane = lowestLane(rest);
      if (isSingle) {
        const word = i32[lods + lane]!;
        const lod = fetch.integers ? word : floatOfBits(word);
        this.#positions[lane] = levelPosition(lod, sampler, image.levels);
      } else this.#chooseByGradients(fetched, context, lane);
      parts |= this.#positions[lane]!;
    }
    const summed = fetched.needsSums || this.#mostSamples > 1 || (parts & (weightOne - 1)) !== 0;
    if (summed && !fetch.result.startsWith("f")) return levelModes.none;
    this.#sample = 0;
    this.#side = 0;
    this.#pending = mask;
    this.#moveSamples(context);
    return summed ? levelModes.summed : levelModes.one;
  }

  #chooseByGradients(fetched: Fetched, context: number, lane: number): void {
    const { fetch, unit, footprints } = fetched;
    const { i32 } = this.#grid.memory.views;
    const { lanes } = this.#kernel;
    const first = this.#register(context, levelRegisters.operands + handleRegisters + coordinatesOf[fetch.geometry]);
    const choose = () => {
      this.#read(fetched, context, lane);
      return unit.chooseLevels();
    };
    const { position, samples, major } =
      footprints === null ? choose() : footprints.of(i32, first + lane, lanes, 2 * fetch.gradients, choose);
    this.#positions[lane] = position;
    this.#samples[lane] = samples;
    this.#majors[lane] = major;
    if (samples === 1) return;
    this.#read(fetched, context, lane);
    this.#mostSamples = Math.max(this.#mostSamples, samples);
    const { coordinates } = unit.operands;
    for (let axis = 0; axis < 3; axis++) this.#coordinates[3 * lane + axis] = coordinates[axis]!;
  }

  /** Describes the next level. Returns the form of its texels; 0 after the last one. */
  next(context: number): number {
    while (this.#pending === 0) {
      if (!this.#advance(context)) {
        this.#putDivisors(context);
        return 0;
      }
    }
    const { words, form, sampled } = this.#last!;
    const { image } = sampled;
    const level = this.#levelOf(lowestLane(this.#pending));
    const { i32 } = this.#grid.memory.views;
    const weights = this.#register(context, levelRegisters.weights);
    i32.fill(-1, weights, weights + this.#kernel.lanes);
    for (let rest = this.#pending; rest !== 0; rest &= rest - 1) {
      const lane = lowestLane(rest);
      if (this.#levelOf(lane) !== level) continue;
      this.#pending &= ~(1 << lane);
      i32[weights + lane] = this.#weightOf(lane);
    }
    putSize(image, image.sizes[level]!, image.cube || image.layers !== null, words);
    i32.set(words, (context + this.#kernel.layout.fragments + imageWordsAt(this.#kernel.lanes)) >>> 2);
    return form;
  }

  /** The level of two that is next for a lane, and how much it counts. */
  #levelOf(lane: number): number {
    return Math.floor(this.#positions[lane]! / weightOne) + this.#side;
  }

  #weightOf(lane: number): number {
    const weight = this.#positions[lane]! % weightOne;
    return this.#side === 0 ? weightOne - weight : weight;
  }

  /** Goes on to the other level, or to the next sample. Returns false after the last one. */
  #advance(context: number): boolean {
    if (this.#side === 0) this.#side = 1;
    else {
      this.#side = 0;
      this.#sample++;
      this.#moveSamples(context);
    }
    if (this.#sample >= this.#mostSamples) return false;
    for (let rest = this.#lanes; rest !== 0; rest &= rest - 1) {
      const lane = lowestLane(rest);
      if (this.#sample < this.#samples[lane]! && this.#weightOf(lane) > 0) this.#pending |= 1 << lane;
    }
    return true;
  }

  /** Puts the coordinates of the next sample where operands are, for lanes that have several. */
  #moveSamples(context: number): void {
    if (this.#mostSamples === 1) return;
    const { unit, fetch } = this.#last!;
    const first = handleRegisters + coordinatesOf[fetch.geometry] - placeWords(fetch.geometry);
    const { i32 } = this.#grid.memory.views;
    for (let rest = this.#lanes; rest !== 0; rest &= rest - 1) {
      const lane = lowestLane(rest);
      const [samples, major] = [this.#samples[lane]!, this.#majors[lane] as 0 | 1];
      if (samples === 1 || this.#sample >= samples) continue;
      this.#read(this.#last!, context, lane);
      const { coordinates } = unit.operands;
      for (let axis = 0; axis < 3; axis++) coordinates[axis] = this.#coordinates[3 * lane + axis]!;
      const moved = unit.alongGradient({ samples, major }, this.#sample);
      for (let axis = 0; axis < placeWords(fetch.geometry); axis++) {
        i32[this.#register(context, levelRegisters.operands + first + axis) + lane] = bitsOfFloat(moved[axis]!);
      }
    }
  }

  /** Says what the sums of each lane are divided by; 0 where they are one texel. */
  #putDivisors(context: number): void {
    const { i32 } = this.#grid.memory.views;
    const at = this.#register(context, levelRegisters.weights);
    for (let rest = this.#lanes; rest !== 0; rest &= rest - 1) {
      const lane = lowestLane(rest);
      const [samples, position] = [this.#samples[lane]!, this.#positions[lane]!];
      i32[at + lane] = samples === 1 && position % weightOne === 0 ? 0 : samples * weightOne;
    }
  }

  #register(context: number, n: number): number {
    const { layout, lanes } = this.#kernel;
    return ((context + layout.fragments) >>> 2) + n * lanes;
  }

  #read({ fetch, unit }: Fetched, context: number, lane: number): void {
    const { i32 } = this.#grid.memory.views;
    const { lanes } = this.#kernel;
    // The two handles are wide, and have two registers each.
    const first = this.#register(context, levelRegisters.operands + handleRegisters - 2);
    readOperands(fetch, { word: (n) => i32[first + n * lanes + lane]! }, lane, unit);
  }

  /** What an instruction fetches from, as a lane has it; null if compiled code does not fetch from it. */
  #fetchedBy(fetch: ImageFetch, context: number, lane: number): Fetched | null {
    const { images, views } = this.#grid.memory;
    const handle = (register: number) => {
      const at = this.#register(context, levelRegisters.operands + register) + 2 * lane;
      return images.find(views.i32[at + 1]! >>> 0, views.i32[at]! >>> 0);
    };
    const texture = handle(0);
    const sampler = fetch.hasSampler ? handle(2) : null;
    if (texture === null || typeof texture === "string" || texture.kind !== "texture") return null;
    if (sampler !== null && (typeof sampler === "string" || sampler.kind !== "sampler")) return null;
    if (fetch.hasSampler && sampler === null) return null;
    // Each instruction has a fetch of its own, and mostly one texture.
    const known = this.#known.get(fetch);
    const isKnown = known !== undefined && known.texture === texture && known.sampler === sampler;
    this.#last = isKnown ? known : describe(fetch, texture, sampler);
    if (!isKnown && this.#last !== null) this.#known.set(fetch, this.#last);
    return this.#last;
  }
}

function describe(fetch: ImageFetch, texture: ObjectOf<"texture">, given: ObjectOf<"sampler"> | null): Fetched | null {
  const { image, sRGB } = texture;
  const sampler = given === null ? texture.sampler : samplerOf(texture.sampler, given);
  if (sampler === null || !hasGeometry(image, fetch.geometry)) return null;
  const words = new Int32Array(imageWordCount);
  const from = fetch.result.startsWith("f") ? "float" : "integer";
  const form = describeTexture({ image, sampler, sRGB }, from, image.sizes[0]!, words);
  if (form === 0) return null;
  const unit = new TextureFetch({ fetch, image, sampler, sRGB });
  const keepsBits = (sampler.filter === "point" || fetch.integers) && image.format.type === "f32";
  return {
    fetch,
    texture,
    sampler: given,
    unit,
    sampled: { image, sampler },
    form,
    words,
    needsSums: keepsBits && !unit.isRaw,
    footprints: fetch.level === "gradients" && !image.cube ? new KnownFootprints() : null,
  };
}
