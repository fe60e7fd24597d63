import { type FunctionWriter, type ModuleWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { imageModes, imageWords } from "../../abi/image-words.ts";
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

/**
 * Functions that fetch texels of two-dimensional images of 32-bit floats for four lanes. They follow
 * `program/images/sample.ts` and `numeric/texture-coordinates.ts` operation by operation, so that results are the same
 * bits.
 */
export class ImageHelpers {
  readonly #module: ModuleWriter;
  readonly #written = new Set<string>();

  constructor(module: ModuleWriter) {
    this.#module = module;
  }

  /**
   * The name of a function (the words of an image, coordinates x and y) that returns the channels of texels, as bits.
   * `integers`: coordinates are texels.
   */
  fetch(channels: 1 | 4, integers: boolean): string {
    const name = `image:${channels}:${integers ? "texels" : "points"}`;
    if (this.#written.has(name)) return name;
    this.#written.add(name);
    const w = this.#module.function(name, ["i32", "v128", "v128"], new Array<"v128">(channels).fill("v128"));
    new FetchWriter(w, channels, integers).write();
    return name;
  }
}

class FetchWriter {
  readonly #w: FunctionWriter;
  readonly #channels: 1 | 4;
  readonly #integers: boolean;
  readonly #words = new Map<keyof typeof imageWords, number>();
  readonly #results: readonly number[];

  constructor(w: FunctionWriter, channels: 1 | 4, integers: boolean) {
    this.#w = w;
    this.#channels = channels;
    this.#integers = integers;
    for (const name of ["base", "rowPitch", "width", "height", "modeX", "modeY", "normalized", "linear"] as const) {
      const local = w.local("i32");
      w.get(0);
      w.memory("i32.load", 4, 4 * imageWords[name]);
      w.set(local);
      this.#words.set(name, local);
    }
    this.#results = Array.from({ length: channels }, () => w.local("v128"));
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
    const axes: readonly [Axis, Axis] = [
      { size: this.#word("width"), mode: this.#word("modeX") },
      { size: this.#word("height"), mode: this.#word("modeY") },
    ];
    if (this.#integers) this.#point(axes, [this.#let(v(1)), this.#let(v(2))]);
    else {
      const positions = axes.map(({ size }, n) => this.#position(1 + n, size)) as [number, number];
      w.get(this.#word("linear"));
      w.if(
        () => this.#linear(axes, positions),
        () => {
          const texels = positions.map((x) => this.#let(op("i32x4.trunc_sat_f32x4_s", op("f32x4.floor", v(x)))));
          this.#point(axes, texels as [number, number]);
        },
      );
    }
    w.values(this.#results.map(v));
  }

  /** A coordinate in texels. */
  #position(coordinate: number, size: number): number {
    const scale = op("f32x4.convert_i32x4_s", splat(i(size)));
    const scaled = op("f32x4.mul", v(coordinate), scale);
    const mask = splat(op("i32.sub", wasm.i32(0), i(this.#word("normalized"))));
    return this.#let(wasm.blend(mask, scaled, v(coordinate)));
  }

  #point(axes: readonly [Axis, Axis], texels: readonly [number, number]): void {
    const [x, y] = axes.map((axis, n) => this.#addressed(axis, texels[n]!)) as [Indices, Indices];
    for (const [c, texel] of this.#gather(x, y).entries()) this.#set(this.#results[c]!, v(texel));
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
    if (this.#integers) clamp();
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

  /** The texels at indices, by channel: locals. */
  #gather(x: Indices, y: Indices): number[] {
    const w = this.#w;
    const rows = op("i32x4.mul", v(y.at), splat(i(this.#word("rowPitch"))));
    const columns = op("i32x4.shl", v(x.at), wasm.i32(this.#channels === 1 ? 2 : 4));
    const places = this.#let(op("i32x4.add", op("i32x4.add", rows, columns), splat(i(this.#word("base")))));
    const place = (lane: number): Wasm => wasm.lane("i32x4.extract_lane", lane, v(places));
    const texels = Array.from({ length: this.#channels }, () => w.local("v128"));
    if (this.#channels === 1) {
      const [texel] = texels as [number];
      for (let lane = 0; lane < 4; lane++) {
        w.value(place(lane));
        if (lane > 0) w.get(texel);
        w.memory(lane === 0 ? "v128.load32_zero" : "v128.load32_lane", 4, 0, lane === 0 ? undefined : lane);
        w.set(texel);
      }
    } else {
      for (let lane = 0; lane < 4; lane++) {
        w.value(place(lane));
        w.memory("v128.load", 4);
        w.set(texels[lane]!);
      }
      const channels = transposed(texels.map(v), 32);
      w.assign(texels.map((local, c) => ({ local, value: channels[c]! })));
    }
    this.#border(texels, x, y);
    return texels;
  }

  #border(texels: readonly number[], x: Indices, y: Indices): void {
    const w = this.#w;
    const isOutside = this.#let(op("v128.or", v(x.isOutside), v(y.isOutside)));
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

  #linear(axes: readonly [Axis, Axis], positions: readonly [number, number]): void {
    const pairs = positions.map((position) => this.#pair(position));
    const one = wasm.i32x4(1);
    const indices = pairs.map(({ first }, n) =>
      [v(first), op("i32x4.add", v(first), one)].map((index) => this.#addressed(axes[n]!, this.#let(index))),
    );
    const weights = pairs.map(({ weight }) => [op("i32x4.sub", wasm.i32x4(weightOne), v(weight)), v(weight)]);
    const sums = this.#results.map(() => [0, 1].map(() => this.#let(wasm.f64x2(0))));
    for (let corner = 0; corner < 4; corner++) {
      const [x, y] = [corner & 1, corner >> 1] as const;
      const texels = this.#gather(indices[0]![x]!, indices[1]![y]!);
      const weight = this.#let(op("i32x4.mul", weights[0]![x]!, weights[1]![y]!));
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
    for (const [c, halves] of sums.entries()) this.#set(this.#results[c]!, this.#rounded(halves.map(v)));
  }

  /** Sums of texels by their weights as 32-bit floats; there is one NaN. */
  #rounded(halves: readonly Wasm[]): Wasm {
    const unit = wasm.f64x2(1 / weightOne ** 2);
    const [low, high] = halves.map((sum) => op("f32x4.demote_f64x2_zero", op("f64x2.mul", sum, unit)));
    const value = wasm.shuffle32(low!, high!, [0, 1, 4, 5]);
    return wasm.blend(op("f32x4.eq", value, value), value, wasm.i32x4(0x7fff_ffff));
  }
}
