import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import type { TexelForm } from "../../abi/image-words.ts";
import { assignKeeping, type Keep, linearOfSrgb } from "./texel-values.ts";
import { transposed } from "../lanes/interleave.ts";

const { op } = wasm;
const v = (local: number): Wasm => wasm.local("v128", local);

/** The fraction for which an integer of so many bits stands, as a number of binary32. */
const fractionOf = (integer: Wasm, most: number): Wasm =>
  op("f32x4.div", op("f32x4.convert_i32x4_s", integer), wasm.f32x4(most));

/** Halves as 32-bit floats: exponent and fraction in their places there, whose exponents are larger by 112. */
function halfAsFloat(keep: Keep, bits: Wasm): Wasm {
  const h = keep(bits);
  const magnitude = op("i32x4.shl", op("v128.and", h, wasm.i32x4(0x7fff)), wasm.i32(13));
  const exponent = op("v128.and", h, wasm.i32x4(0x7c00));
  const isSpecial = op("i32x4.eq", exponent, wasm.i32x4(0x7c00));
  const number = wasm.blend(isSpecial, wasm.i32x4(0x7f80_0000), op("f32x4.mul", magnitude, wasm.f32x4(2 ** 112)));
  const sign = op("i32x4.shl", op("v128.and", h, wasm.i32x4(0x8000)), wasm.i32(16));
  const isNan = op("i32x4.gt_s", op("v128.and", h, wasm.i32x4(0x7fff)), wasm.i32x4(0x7c00));
  return wasm.blend(isNan, wasm.i32x4(0x7fff_ffff), op("v128.or", number, sign));
}

/** Writes loads of the texels of four lanes: channels as `numeric/texel.ts` decodes them, with one NaN of halves. */
export class TexelLoads {
  readonly #w: FunctionWriter;
  readonly #form: TexelForm;

  constructor(w: FunctionWriter, form: TexelForm) {
    this.#w = w;
    this.#form = form;
  }

  /** Loads texels from the bytes that the lanes of a local give. Returns a local for each channel of the format. */
  load(places: number): number[] {
    const { bits, channels, value } = this.#form;
    const words = this.#words(places);
    if (value === "raw") return words;
    const perWord = Math.min(channels, 32 / bits);
    if (channels === 1) {
      const [word] = words as [number];
      assignKeeping(this.#w, word, (keep) => this.#decoded(keep, word, 0));
      return words;
    }
    const parts = Array.from({ length: channels }, (_, c) => {
      const local = this.#w.local("v128");
      assignKeeping(this.#w, local, (keep) => this.#decoded(keep, words[Math.floor(c / perWord)]!, c % perWord));
      return local;
    });
    for (const word of words) this.#w.release(word);
    return parts;
  }

  #set(local: number, value: Wasm): void {
    this.#w.assign([{ local, value }]);
  }

  /** A channel out of words that have several, the first lowest. */
  #decoded(keep: Keep, word: number, c: number): Wasm {
    const { bits, channels, value } = this.#form;
    const above = 32 - bits * (c + 1);
    const moved = c === 0 ? v(word) : op("i32x4.shr_u", v(word), wasm.i32(bits * c));
    const unsigned = channels === 1 ? moved : op("v128.and", moved, wasm.i32x4(2 ** bits - 1));
    const signed = (): Wasm => op("i32x4.shr_s", op("i32x4.shl", v(word), wasm.i32(above)), wasm.i32(32 - bits));
    switch (value) {
      case "raw":
      case "unsigned":
        return unsigned;
      case "signed":
        return signed();
      case "fraction":
        return fractionOf(unsigned, 2 ** bits - 1);
      case "sRGB": {
        const fraction = fractionOf(unsigned, 2 ** bits - 1);
        return c < 3 ? linearOfSrgb(keep, fraction) : fraction;
      }
      case "signed fraction":
        return op("f32x4.max", fractionOf(signed(), 2 ** (bits - 1) - 1), wasm.f32x4(-1));
      case "half":
        return halfAsFloat(keep, unsigned);
    }
  }

  /** Loads the words of texels, the first of all lanes in one local; texels of less than a word have zeros above. */
  #words(places: number): number[] {
    const w = this.#w;
    const { bits, channels } = this.#form;
    const place = (lane: number): Wasm => wasm.lane("i32x4.extract_lane", lane, v(places));
    const bytes = (bits / 8) * channels;
    if (bytes <= 4) {
      const texel = w.local("v128");
      this.#set(texel, wasm.i32x4(0));
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
    // Texels of two words: those of two lanes fill a vector.
    const isPair = bytes === 8;
    const texels = Array.from({ length: isPair ? 2 : 4 }, () => w.local("v128"));
    for (let lane = 0; lane < 4; lane++) {
      const texel = texels[isPair ? lane >> 1 : lane]!;
      w.value(place(lane));
      if (isPair && lane % 2 === 1) {
        w.get(texel);
        w.memory("v128.load64_lane", bits / 8, 0, 1);
      } else w.memory(isPair ? "v128.load64_zero" : "v128.load", bits / 8);
      w.set(texel);
    }
    const byWord = transposed(texels.map(v), 32);
    w.assign(texels.map((local, c) => ({ local, value: byWord[c]! })));
    return texels;
  }
}
