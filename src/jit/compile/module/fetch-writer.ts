import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { coordinatesOf } from "../../../ir/index.ts";
import { type FetchedGeometry, imageModes, imageWords, type TexelForm } from "../../abi/image-words.ts";
import type { FetchKind } from "./fetch-kind.ts";
import { withOneNan } from "../lanes/canonical-nan.ts";
import { facePointOf } from "./face-point.ts";
import { TexelLoads } from "./texel-loads.ts";
import {
  assignKeeping,
  floatsOfDoubles,
  halfOf,
  halvesOfDoubles,
  halvesOfFloats,
  type Keep,
  moduloOf,
  passedDepths,
} from "./texel-values.ts";

const { op } = wasm;
const v = (local: number): Wasm => wasm.local("v128", local);
const i = (local: number): Wasm => wasm.local("i32", local);
const splat = (scalar: Wasm): Wasm => op("i32x4.splat", scalar);

/** The weights of linear filtering count in units of 1/256: see numeric/texture-coordinates.ts. */
const weightOne = 256;

/** An axis of an image: the words that describe it. */
interface Axis {
  readonly size: number;
  readonly mode: number;
}

/** Texel indices of four lanes along an axis, and which of them are in the border. */
interface Indices {
  readonly at: number;
  readonly isOutside: number;
}

const sizes = ["width", "height", "depth"] as const;
const modes = ["modeX", "modeY", "modeZ"] as const;
const axesOf = (geometry: FetchedGeometry): 1 | 2 | 3 =>
  geometry.endsWith("cube") || geometry.endsWith("ms") ? 2 : (Number(geometry.at(-2)) as 1 | 2 | 3);

/**
 * Writes a function that fetches texels for four lanes. It follows `program/images/sample.ts` and `numeric/` operation
 * by operation, so that results are the same bits.
 */
export class FetchWriter {
  readonly #w: FunctionWriter;
  readonly #kind: FetchKind;
  /** Texels of one form, or the name of a function that loads those of any. */
  readonly #form: TexelForm | string;
  readonly #words = new Map<keyof typeof imageWords, number>();
  readonly #results: readonly number[];
  /** See `FetchKind.wide`; none if it is not asked for. */
  readonly #wide: readonly number[];
  readonly #isArray: boolean;
  readonly #isCube: boolean;
  /** Of a cube, the lanes that need texels beyond the edge of a face. */
  readonly #strays: number;

  constructor(w: FunctionWriter, kind: FetchKind, form: TexelForm | string) {
    this.#w = w;
    this.#kind = kind;
    this.#form = form;
    this.#isArray = kind.geometry.startsWith("a");
    this.#isCube = kind.geometry.endsWith("cube");
    this.#results = Array.from({ length: 4 }, () => w.local("v128"));
    this.#wide = Array.from({ length: kind.wide === true ? 8 : 0 }, () => w.local("v128"));
    this.#strays = w.local("v128");
  }

  /** A word that describes the image, loaded once at the beginning. */
  #load(...names: (keyof typeof imageWords)[]): void {
    const w = this.#w;
    for (const name of names) {
      const local = w.local("i32");
      w.get(0);
      w.memory("i32.load", 4, 4 * imageWords[name]);
      w.set(local);
      this.#words.set(name, local);
    }
  }

  #word(name: keyof typeof imageWords): number {
    return this.#words.get(name)!;
  }

  #set(local: number, value: Wasm): void {
    this.#w.assign([{ local, value }]);
  }

  #let(value: Wasm): number {
    const local = this.#w.local(value.ty);
    this.#set(local, value);
    return local;
  }

  write(): void {
    const w = this.#w;
    const { geometry, integers, result, component } = this.#kind;
    const count = axesOf(geometry);
    this.#load("base", "rowPitch", "slicePitch", "depth", ...sizes.slice(0, count), ...modes.slice(0, count));
    this.#load("normalized", "linear", "texelBytes", "compare", "seamless", "samplePitch", "samples");
    const axes = sizes
      .slice(0, count)
      .map((size, n): Axis => ({ size: this.#word(size), mode: this.#word(modes[n]!) }));
    const hasSamples = geometry.endsWith("ms");
    // The sample comes first, then the layer.
    const layerAt = hasSamples ? 3 : 2;
    const first = this.#isArray ? layerAt + 1 : layerAt;
    const direction = [v(first), v(first + 1), v(first + 2)] as const;
    const point = this.#isCube ? facePointOf(direction, (value) => v(this.#let(value))) : null;
    const layers = point !== null ? this.#faces(point.face) : this.#isArray ? this.#layers(layerAt) : null;
    const slices = hasSamples ? this.#samples(layers) : layers;
    const coordinates = point?.at.map((along) => this.#let(along)) ?? axes.map((_, n) => first + n);
    if (integers) {
      const texels = coordinates.map((local) => this.#let(v(local)));
      this.#point(axes, texels, slices);
    } else {
      const positions = axes.map(({ size }, n) => this.#position(coordinates[n]!, size));
      const nearest = (): void => {
        const texels = positions.map((x) => this.#let(op("i32x4.trunc_sat_f32x4_s", op("f32x4.floor", v(x)))));
        this.#point(axes, texels, slices);
      };
      if (component !== null) this.#gathered(axes, positions, slices, component);
      else if (result === "integer") nearest();
      else {
        w.get(this.#word("linear"));
        w.if(() => this.#linear(axes, positions, slices), nearest);
      }
    }
    w.values((this.#kind.wide === true ? this.#wide : this.#results).map(v));
  }

  /** The byte at which the face of each lane begins. */
  #faces(face: Wasm): number {
    const layer = this.#isArray ? op("i32x4.mul", this.#layer(2), wasm.i32x4(6)) : wasm.i32x4(0);
    return this.#let(op("i32x4.mul", op("i32x4.add", layer, face), splat(i(this.#word("slicePitch")))));
  }

  /** The byte at which the sample of each lane begins, in its layer: those beyond the last one are the last. */
  #samples(layers: number | null): number {
    const most = splat(op("i32.sub", i(this.#word("samples")), wasm.i32(1)));
    const at = op("i32x4.mul", op("i32x4.min_u", v(2), most), splat(i(this.#word("samplePitch"))));
    return this.#let(layers === null ? at : op("i32x4.add", at, v(layers)));
  }

  /** The byte at which the layer of each lane begins: those beyond the last one are the last. */
  #layers(coordinate: number): number {
    return this.#let(op("i32x4.mul", this.#layer(coordinate), splat(i(this.#word("slicePitch")))));
  }

  #layer(coordinate: number): Wasm {
    return op("i32x4.min_u", v(coordinate), splat(op("i32.sub", i(this.#word("depth")), wasm.i32(1))));
  }

  /** A texel along an axis, moved by the offset that an instruction gives. */
  #moved(texel: Wasm, axis: number): Wasm {
    const { geometry, offsets } = this.#kind;
    return axis < offsets ? op("i32x4.add", texel, v(2 + coordinatesOf[geometry] + axis)) : texel;
  }

  /** The results of comparing depths, the first channels of texels: 1 or 0 in each channel. */
  #compared(texels: readonly number[]): void {
    const { geometry, offsets, compares } = this.#kind;
    if (!compares) return;
    const given = v(2 + coordinatesOf[geometry] + offsets);
    const passed = texels[0]!;
    assignKeeping(this.#w, passed, (keep) => passedDepths(keep, given, v(passed), i(this.#word("compare"))));
    for (const texel of texels.slice(1)) this.#set(texel, v(passed));
  }

  /** A coordinate in texels. */
  #position(coordinate: number, size: number): number {
    const scale = op("f32x4.convert_i32x4_s", splat(i(size)));
    const scaled = op("f32x4.mul", v(coordinate), scale);
    const mask = splat(op("i32.sub", wasm.i32(0), i(this.#word("normalized"))));
    return this.#let(wasm.blend(mask, scaled, v(coordinate)));
  }

  #point(axes: readonly Axis[], texels: readonly number[], slices: number | null): void {
    const indices = axes.map((axis, n) => this.#addressed(axis, this.#let(this.#moved(v(texels[n]!), n))));
    const found = this.#gather(indices, slices);
    const absent = this.#absent();
    for (const [c, result] of this.#results.entries())
      this.#set(result, found[c] === undefined ? absent[c]! : v(found[c]));
    this.#border(this.#results, indices);
    this.#compared(this.#results);
    this.#finish();
  }

  /** Results that are single texels, as they are asked for. */
  #finish(): void {
    this.#widen();
    if (!this.#kind.halves) return;
    for (const result of this.#results) assignKeeping(this.#w, result, (keep) => halvesOfFloats(keep, v(result)));
  }

  /** Results as binary64, if these are asked for. */
  #widen(): void {
    for (const [n, local] of this.#wide.entries()) {
      this.#set(local, op("f64x2.promote_low_f32x4", halfOf(v(this.#results[n >> 1]!), (n & 1) as 0 | 1)));
    }
  }

  /** The channels that a texel does not have: 0, and 1 for the fourth. */
  #absent(): readonly Wasm[] {
    const one = this.#kind.result === "float" ? 0x3f80_0000 : 1;
    return [0, 0, 0, one].map((value) => wasm.i32x4(value));
  }

  /** The texels that stand for indices of an axis; those in the border are clamped, and marked. */
  #addressed({ size, mode }: Axis, index: number): Indices {
    const w = this.#w;
    const at = this.#let(v(index));
    const isOutside = this.#let(wasm.i32x4(0));
    const last = op("i32.sub", i(size), wasm.i32(1));
    const clamp = (): void => {
      const clamped = op("i32x4.min_s", op("i32x4.max_s", v(at), wasm.i32x4(0)), splat(last));
      const isBorder = splat(op("i32.sub", wasm.i32(0), op("i32.eq", i(mode), wasm.i32(imageModes.border))));
      w.assign([
        { local: isOutside, value: op("v128.and", op("i32x4.ne", clamped, v(at)), isBorder) },
        { local: at, value: clamped },
      ]);
    };
    const repeat = (): void => {
      const period = this.#let(op("i32.shl", i(size), op("i32.eq", i(mode), wasm.i32(imageModes.mirror))));
      this.#set(at, moduloOf(v(at), i(period)));
      const mirrored = op("i32x4.sub", splat(op("i32.sub", op("i32.shl", i(size), wasm.i32(1)), wasm.i32(1))), v(at));
      this.#set(at, wasm.blend(op("i32x4.lt_s", v(at), splat(i(size))), v(at), mirrored));
    };
    // Only coordinates that are fractions of the image repeat it.
    if (this.#kind.integers) clamp();
    else {
      w.value(op("i32.ge_s", i(mode), wasm.i32(imageModes.wrap)));
      w.if(repeat, clamp);
    }
    return { at, isOutside };
  }

  /** The texels at indices, by channel: locals. Those in the border are any others. */
  #gather(indices: readonly Indices[], slices: number | null): number[] {
    const [x, y, z] = indices;
    const scaled = (at: number, name: "rowPitch" | "slicePitch" | "texelBytes"): Wasm =>
      op("i32x4.mul", v(at), splat(i(this.#word(name))));
    const form = this.#form;
    const along =
      typeof form === "string"
        ? scaled(x!.at, "texelBytes")
        : op("i32x4.shl", v(x!.at), wasm.i32(Math.log2((form.bits / 8) * form.channels)));
    let sum = op("i32x4.add", along, splat(i(this.#word("base"))));
    if (y !== undefined) sum = op("i32x4.add", sum, scaled(y.at, "rowPitch"));
    if (z !== undefined) sum = op("i32x4.add", sum, scaled(z.at, "slicePitch"));
    if (slices !== null) sum = op("i32x4.add", sum, v(slices));
    const places = this.#let(sum);
    const texels = typeof form === "string" ? this.#loadAny(form, places) : new TexelLoads(this.#w, form).load(places);
    this.#w.release(places);
    return texels;
  }

  /** Loads texels of any form by a function. */
  #loadAny(name: string, places: number): number[] {
    const w = this.#w;
    const texels = Array.from({ length: 4 }, () => w.local("v128"));
    w.get(places);
    w.get(1);
    w.call(name);
    for (const local of [...texels].reverse()) w.set(local);
    return texels;
  }

  /** Texels in the border have its color. */
  #border(texels: readonly number[], indices: readonly Indices[]): void {
    const w = this.#w;
    const [first, ...rest] = indices.map(({ isOutside }) => v(isOutside));
    const isOutside = this.#let(rest.reduce((all, one) => op("v128.or", all, one), first!));
    w.value(op("v128.any_true", v(isOutside)));
    w.if(() => {
      texels.forEach((texel, c) => {
        const color = w.local("i32");
        w.get(0);
        w.memory("i32.load", 4, 4 * (imageWords.border + c));
        w.set(color);
        this.#set(texel, wasm.blend(v(isOutside), splat(i(color)), v(texel)));
        w.release(color);
      });
    });
  }

  /** The texel before a position and its weight: see `linearTexels`. */
  #pair(position: number): { readonly first: number; readonly weight: number } {
    const shifted = this.#let(op("f32x4.sub", v(position), wasm.f32x4(0.5)));
    const floor = this.#let(op("f32x4.floor", v(shifted)));
    const fraction = op("f32x4.sub", v(shifted), v(floor));
    const rounded = op("f32x4.add", op("f32x4.mul", fraction, wasm.f32x4(weightOne)), wasm.f32x4(0.5));
    return {
      first: this.#let(op("i32x4.trunc_sat_f32x4_s", v(floor))),
      weight: this.#let(op("i32x4.trunc_sat_f32x4_s", op("f32x4.floor", rounded))),
    };
  }

  /** The texels of an axis that are next to a place. */
  #both(axis: Axis, n: number, first: number): readonly Indices[] {
    return [v(first), op("i32x4.add", v(first), wasm.i32x4(1))].map((index) => {
      const at = this.#let(this.#moved(index, n));
      const found = this.#addressed(axis, at);
      if (this.#isCube) {
        this.#set(this.#strays, op("v128.or", v(this.#strays), op("i32x4.ne", v(at), v(found.at))));
      }
      return found;
    });
  }

  /** Fetches that need texels of other faces are the launcher's. */
  #settle(): void {
    if (!this.#isCube) return;
    const w = this.#w;
    w.value(op("i32.and", i(this.#word("seamless")), op("v128.any_true", v(this.#strays))));
    w.if(() => {
      w.get(0);
      w.i32(1);
      w.memory("i32.store", 4, 4 * imageWords.unsettled);
    });
  }

  /** One component of the four texels around a place, in the order of `gather` in `program/images/sample.ts`. */
  #gathered(axes: readonly Axis[], positions: readonly number[], slices: number | null, component: number): void {
    const indices = positions.map((position, n) => this.#both(axes[n]!, n, this.#pair(position).first));
    for (const [result, corner] of [2, 3, 1, 0].entries()) {
      const at = indices.map((both, n) => both[(corner >> n) & 1]!);
      const texels = this.#gather(at, slices);
      this.#border(texels, at);
      this.#compared(texels);
      this.#set(this.#results[result]!, v(texels[component]!));
      for (const texel of texels) this.#w.release(texel);
    }
    if (this.#isCube && this.#kind.result === "float") this.#uniteNans();
    this.#finish();
    this.#settle();
  }

  /** Beyond a corner of a seamless cube is a mean, so its texels are numbers, of which one is NaN, and not bits. */
  #uniteNans(): void {
    this.#w.get(this.#word("seamless"));
    this.#w.if(() => this.#results.map((r) => this.#set(r, withOneNan("f32", v(r)))));
  }

  #linear(axes: readonly Axis[], positions: readonly number[], slices: number | null): void {
    const pairs = positions.map((position) => this.#pair(position));
    const indices = pairs.map(({ first }, n) => this.#both(axes[n]!, n, first));
    const weights = pairs.map(({ weight }) => [op("i32x4.sub", wasm.i32x4(weightOne), v(weight)), v(weight)]);
    const form = this.#form;
    const own = this.#results.slice(0, typeof form === "string" ? 4 : form.channels);
    const sums = own.map(() => [0, 1].map(() => this.#let(wasm.f64x2(0))));
    for (let corner = 0; corner < 1 << axes.length; corner++) {
      const sides = axes.map((_, n) => (corner >> n) & 1);
      const at = sides.map((side, n) => indices[n]![side]!);
      const texels = this.#gather(at, slices);
      this.#border(texels, at);
      this.#compared(texels);
      const factors = sides.map((side, n) => weights[n]![side]!);
      const weight = this.#let(factors.reduce((product, factor) => op("i32x4.mul", product, factor)));
      texels.forEach((texel, c) => {
        for (const h of [0, 1] as const) {
          const term = op(
            "f64x2.mul",
            op("f64x2.promote_low_f32x4", halfOf(v(texel), h)),
            op("f64x2.convert_low_i32x4_s", halfOf(v(weight), h)),
          );
          this.#set(sums[c]![h]!, op("f64x2.add", v(sums[c]![h]!), term));
        }
        this.#w.release(texel);
      });
      this.#w.release(weight);
    }
    const absent = this.#kind.halves ? [0, 0, 0, 0x3c00].map((value) => wasm.i32x4(value)) : this.#absent();
    for (const [c, result] of this.#results.entries()) {
      const halves = sums[c];
      if (halves === undefined) this.#set(result, absent[c]!);
      else assignKeeping(this.#w, result, (keep) => this.#rounded(keep, halves.map(v), axes.length));
    }
    this.#widen();
    const unit = wasm.f64x2(1 / weightOne ** axes.length);
    for (const [n, local] of this.#wide.entries()) {
      const sum = sums[n >> 1]?.[n & 1];
      if (sum !== undefined) this.#set(local, op("f64x2.mul", v(sum), unit));
    }
    this.#settle();
  }

  /** Sums of texels by their weights as 32-bit floats, or halves; there is one NaN. */
  #rounded(keep: Keep, halves: readonly Wasm[], axes: number): Wasm {
    const unit = wasm.f64x2(1 / weightOne ** axes);
    const [low, high] = halves.map((sum) => op("f64x2.mul", sum, unit));
    const rounded = this.#kind.halves ? halvesOfDoubles : floatsOfDoubles;
    return rounded(keep, low!, high!);
  }
}
