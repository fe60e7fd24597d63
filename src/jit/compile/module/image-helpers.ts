import { type FunctionWriter, type ModuleWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { coordinatesOf } from "../../../ir/index.ts";
import { type FetchedGeometry, imageModes, imageWords, type TexelForm, texelForms } from "../../abi/image-words.ts";
import { transposed } from "../lanes/interleave.ts";

const { op } = wasm;
const v = (local: number): Wasm => wasm.local("v128", local);
const i = (local: number): Wasm => wasm.local("i32", local);
const splat = (scalar: Wasm): Wasm => op("i32x4.splat", scalar);

/** The halves of four 32-bit elements: the first two, or the others in their place. */
const half = (value: Wasm, h: 0 | 1): Wasm => (h === 0 ? value : wasm.shuffle32(value, value, [2, 3, 2, 3]));

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

/** What a function fetches: `integers`: coordinates are texels. */
export interface FetchKind {
  readonly geometry: FetchedGeometry;
  readonly integers: boolean;
  readonly result: TexelForm["result"];
}

const sizes = ["width", "height", "depth"] as const;
const modes = ["modeX", "modeY", "modeZ"] as const;
const axesOf = (geometry: FetchedGeometry): 1 | 2 | 3 => Number(geometry.at(-2)) as 1 | 2 | 3;

/**
 * Functions that fetch texels for four lanes. They follow `program/images/sample.ts` and
 * `numeric/texture-coordinates.ts` operation by operation, so that results are the same bits.
 */
export class ImageHelpers {
  readonly #module: ModuleWriter;
  readonly #written = new Set<string>();

  constructor(module: ModuleWriter) {
    this.#module = module;
  }

  /**
   * The name of a function (the words of an image, the number of the form of its texels, coordinates) that returns four
   * channels, as bits.
   */
  fetch(kind: FetchKind): string {
    const { geometry, integers, result } = kind;
    const name = `image:${geometry}:${integers ? "texels" : "points"}:${result}`;
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    const coordinates = new Array<"v128">(coordinatesOf[geometry]).fill("v128");
    const four = new Array<"v128">(4).fill("v128");
    const forms = texelForms.flatMap((form, n) => (form.result === result ? [{ form, number: n + 1 }] : []));
    for (const { form, number } of forms) {
      new FetchWriter(this.#module.function(`${name}:${number}`, ["i32", ...coordinates], four), kind, form).write();
    }
    const w = this.#module.function(name, ["i32", "i32", ...coordinates], four);
    const results = four.map((ty) => w.local(ty));
    const call = (number: number): void => {
      w.get(0);
      for (const n of coordinates.keys()) w.get(2 + n);
      w.call(`${name}:${number}`);
      for (const local of [...results].reverse()) w.set(local);
    };
    const choose = ([first, ...rest]: typeof forms): void => {
      if (rest.length === 0) {
        call(first!.number);
        return;
      }
      w.value(op("i32.eq", i(1), wasm.i32(first!.number)));
      w.if(
        () => call(first!.number),
        () => choose(rest),
      );
    };
    choose(forms);
    w.values(results.map(v));
    return name;
  }
}

class FetchWriter {
  readonly #w: FunctionWriter;
  readonly #kind: FetchKind;
  readonly #form: TexelForm;
  readonly #words = new Map<keyof typeof imageWords, number>();
  readonly #results: readonly number[];
  readonly #isArray: boolean;

  constructor(w: FunctionWriter, kind: FetchKind, form: TexelForm) {
    this.#w = w;
    this.#kind = kind;
    this.#form = form;
    this.#isArray = kind.geometry.startsWith("a");
    this.#results = Array.from({ length: 4 }, () => w.local("v128"));
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
    const { geometry, integers, result } = this.#kind;
    const count = axesOf(geometry);
    this.#load("base", "rowPitch", "slicePitch", "depth", ...sizes.slice(0, count), ...modes.slice(0, count));
    this.#load("normalized", "linear");
    const axes = sizes
      .slice(0, count)
      .map((size, n): Axis => ({ size: this.#word(size), mode: this.#word(modes[n]!) }));
    const first = this.#isArray ? 2 : 1;
    const slices = this.#isArray ? this.#layers(1) : null;
    const coordinates = axes.map((_, n) => first + n);
    if (integers) {
      this.#point(
        axes,
        coordinates.map((local) => this.#let(v(local))),
        slices,
      );
    } else {
      const positions = axes.map(({ size }, n) => this.#position(coordinates[n]!, size));
      const point = (): void => {
        const texels = positions.map((x) => this.#let(op("i32x4.trunc_sat_f32x4_s", op("f32x4.floor", v(x)))));
        this.#point(axes, texels, slices);
      };
      if (result === "integer") point();
      else {
        w.get(this.#word("linear"));
        w.if(() => this.#linear(axes, positions, slices), point);
      }
    }
    w.values(this.#results.map(v));
  }

  /** The byte at which the layer of each lane begins: those beyond the last one are the last. */
  #layers(coordinate: number): number {
    const last = op("i32.sub", i(this.#word("depth")), wasm.i32(1));
    const layer = op("i32x4.min_u", v(coordinate), splat(last));
    return this.#let(op("i32x4.mul", layer, splat(i(this.#word("slicePitch")))));
  }

  /** A coordinate in texels. */
  #position(coordinate: number, size: number): number {
    const scale = op("f32x4.convert_i32x4_s", splat(i(size)));
    const scaled = op("f32x4.mul", v(coordinate), scale);
    const mask = splat(op("i32.sub", wasm.i32(0), i(this.#word("normalized"))));
    return this.#let(wasm.blend(mask, scaled, v(coordinate)));
  }

  #point(axes: readonly Axis[], texels: readonly number[], slices: number | null): void {
    const indices = axes.map((axis, n) => this.#addressed(axis, texels[n]!));
    const found = this.#gather(indices, slices);
    const absent = this.#absent();
    for (const [c, result] of this.#results.entries())
      this.#set(result, found[c] === undefined ? absent[c]! : v(found[c]));
    this.#border(this.#results, indices);
  }

  /** The channels that a texel does not have: 0, and 1 for the fourth. */
  #absent(): readonly Wasm[] {
    const one = this.#form.result === "float" ? 0x3f80_0000 : 1;
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
      this.#set(at, this.#modulo(at, period));
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

  /** The remainder of 32-bit integers, not negative: quotients of binary64 are exact enough to be rounded down. */
  #modulo(index: number, period: number): Wasm {
    const n = op("f64x2.splat", op("f64.convert_i32_s", i(period)));
    const rest = (h: 0 | 1): Wasm => {
      const value = op("f64x2.convert_low_i32x4_s", half(v(index), h));
      const quotient = op("f64x2.floor", op("f64x2.div", value, n));
      return op("i32x4.trunc_sat_f64x2_s_zero", op("f64x2.sub", value, op("f64x2.mul", quotient, n)));
    };
    return wasm.shuffle32(rest(0), rest(1), [0, 1, 4, 5]);
  }

  /** The texels at indices, by channel: locals. Those in the border are any others. */
  #gather(indices: readonly Indices[], slices: number | null): number[] {
    const { bits, channels, value } = this.#form;
    const [x, y, z] = indices;
    const scaled = (at: number, name: "rowPitch" | "slicePitch"): Wasm =>
      op("i32x4.mul", v(at), splat(i(this.#word(name))));
    const shift = Math.log2((bits / 8) * channels);
    let sum = op("i32x4.add", op("i32x4.shl", v(x!.at), wasm.i32(shift)), splat(i(this.#word("base"))));
    if (y !== undefined) sum = op("i32x4.add", sum, scaled(y.at, "rowPitch"));
    if (z !== undefined) sum = op("i32x4.add", sum, scaled(z.at, "slicePitch"));
    if (slices !== null) sum = op("i32x4.add", sum, v(slices));
    const places = this.#let(sum);
    const texels = this.#loadTexels(places);
    this.#w.release(places);
    if (value === "raw") return texels;
    const fraction = (bitsOf: Wasm): Wasm =>
      value === "fraction" ? op("f32x4.div", op("f32x4.convert_i32x4_s", bitsOf), wasm.f32x4(2 ** bits - 1)) : bitsOf;
    const [packed] = texels as [number];
    if (channels === 1) {
      this.#set(packed, fraction(v(packed)));
      return [packed];
    }
    const parts = Array.from({ length: channels }, (_, c) => {
      const moved = c === 0 ? v(packed) : op("i32x4.shr_u", v(packed), wasm.i32(bits * c));
      return this.#let(fraction(op("v128.and", moved, wasm.i32x4(2 ** bits - 1))));
    });
    this.#w.release(packed);
    return parts;
  }

  /** Loads texels: by channel where each has 32 bits, else packed, with zeros above. */
  #loadTexels(places: number): number[] {
    const w = this.#w;
    const { bits, channels } = this.#form;
    const place = (lane: number): Wasm => wasm.lane("i32x4.extract_lane", lane, v(places));
    const bytes = (bits / 8) * channels;
    if (bytes <= 4) {
      const texel = this.#let(wasm.i32x4(0));
      const load = ({ 1: "v128.load8_lane", 2: "v128.load16_lane", 4: "v128.load32_lane" } as const)[
        bytes as 1 | 2 | 4
      ];
      for (let lane = 0; lane < 4; lane++) {
        w.value(place(lane));
        w.get(texel);
        w.memory(load, bytes, 0, lane * (4 / bytes));
        w.set(texel);
      }
      return [texel];
    }
    // Two channels: texels of two lanes fill a vector.
    const count = channels === 2 ? 2 : 4;
    const texels = Array.from({ length: count }, () => w.local("v128"));
    for (let lane = 0; lane < 4; lane++) {
      const texel = texels[channels === 2 ? lane >> 1 : lane]!;
      w.value(place(lane));
      if (channels === 2 && lane % 2 === 1) {
        w.get(texel);
        w.memory("v128.load64_lane", 8, 0, 1);
      } else w.memory(channels === 2 ? "v128.load64_zero" : "v128.load", channels === 2 ? 8 : 4);
      w.set(texel);
    }
    const byChannel = transposed(texels.map(v), 32);
    w.assign(texels.map((local, c) => ({ local, value: byChannel[c]! })));
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

  #linear(axes: readonly Axis[], positions: readonly number[], slices: number | null): void {
    const pairs = positions.map((position) => this.#pair(position));
    const one = wasm.i32x4(1);
    const indices = pairs.map(({ first }, n) =>
      [v(first), op("i32x4.add", v(first), one)].map((index) => this.#addressed(axes[n]!, this.#let(index))),
    );
    const weights = pairs.map(({ weight }) => [op("i32x4.sub", wasm.i32x4(weightOne), v(weight)), v(weight)]);
    const own = this.#results.slice(0, this.#form.channels);
    const sums = own.map(() => [0, 1].map(() => this.#let(wasm.f64x2(0))));
    for (let corner = 0; corner < 1 << axes.length; corner++) {
      const sides = axes.map((_, n) => (corner >> n) & 1);
      const at = sides.map((side, n) => indices[n]![side]!);
      const texels = this.#gather(at, slices);
      this.#border(texels, at);
      const factors = sides.map((side, n) => weights[n]![side]!);
      const weight = this.#let(factors.reduce((product, factor) => op("i32x4.mul", product, factor)));
      texels.forEach((texel, c) => {
        for (const h of [0, 1] as const) {
          const term = op(
            "f64x2.mul",
            op("f64x2.promote_low_f32x4", half(v(texel), h)),
            op("f64x2.convert_low_i32x4_s", half(v(weight), h)),
          );
          this.#set(sums[c]![h]!, op("f64x2.add", v(sums[c]![h]!), term));
        }
        this.#w.release(texel);
      });
      this.#w.release(weight);
    }
    const absent = this.#absent();
    for (const [c, result] of this.#results.entries()) {
      const halves = sums[c];
      this.#set(result, halves === undefined ? absent[c]! : this.#rounded(halves.map(v), axes.length));
    }
  }

  /** Sums of texels by their weights as 32-bit floats; there is one NaN. */
  #rounded(halves: readonly Wasm[], axes: number): Wasm {
    const unit = wasm.f64x2(1 / weightOne ** axes);
    const [low, high] = halves.map((sum) => op("f32x4.demote_f64x2_zero", op("f64x2.mul", sum, unit)));
    const value = wasm.shuffle32(low!, high!, [0, 1, 4, 5]);
    return wasm.blend(op("f32x4.eq", value, value), value, wasm.i32x4(0x7fff_ffff));
  }
}
