import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { channelInfo, type ChannelType, channelTypes } from "../../../numeric/texel.ts";
import { eachLaneIn } from "../lanes/each-lane.ts";
import { imageWords } from "../../abi/image-words.ts";
import { assignKeeping, halfOf, halvesOfFloats, joined, type Keep } from "./texel-values.ts";

const { op } = wasm;
const v = (local: number): Wasm => wasm.local("v128", local);
const i = (local: number): Wasm => wasm.local("i32", local);

/** The parameters of a function that stores texels, in order: see `TexelStores`. */
export const texelStoreParams = ["i32", "i32", "v128", "v128", "v128", "v128", "v128", "v128"] as const;
const [words, form, places, lanes, firstChannel] = [0, 1, 2, 3, 4];

/** Channels in the low bits of their elements, the others 0, as `encodeChannel` gives them. */
function encoded(keep: Keep, type: ChannelType, local: number): Wasm {
  const { bits, value } = channelInfo[type];
  if (bits === 32) return v(local);
  const mask = 2 ** bits - 1;
  if (value === "unsigned") return op("i32x4.min_u", v(local), wasm.i32x4(mask));
  const most = 2 ** (bits - 1) - 1;
  if (value === "signed") {
    const clamped = op("i32x4.max_s", op("i32x4.min_s", v(local), wasm.i32x4(most)), wasm.i32x4(-most - 1));
    return op("v128.and", clamped, wasm.i32x4(mask));
  }
  if (type === "f16") return halvesOfFloats(keep, v(local));
  const isSigned = type.startsWith("s");
  const number = wasm.blend(op("f32x4.eq", v(local), v(local)), v(local), wasm.i32x4(0));
  const fraction = op("f32x4.pmin", op("f32x4.pmax", number, wasm.f32x4(isSigned ? -1 : 0)), wasm.f32x4(1));
  const [low, high] = ([0, 1] as const).map((h) => {
    const scaled = op(
      "f64x2.mul",
      op("f64x2.promote_low_f32x4", halfOf(fraction, h)),
      wasm.f64x2(isSigned ? most : mask),
    );
    return op("i32x4.trunc_sat_f64x2_s_zero", op("f64x2.nearest", scaled));
  });
  return op("v128.and", joined(low!, high!), wasm.i32x4(mask));
}

/**
 * Writes a function (the words of a surface, the number of the type of its channels, where four lanes store, which of
 * them do, four channels) that stores texels in the surface's format.
 */
export class TexelStores {
  readonly #w: FunctionWriter;

  constructor(w: FunctionWriter) {
    this.#w = w;
  }

  write(): void {
    const w = this.#w;
    const channels = w.local("i32");
    w.get(words!);
    w.memory("i32.load", 4, 4 * imageWords.channels);
    w.set(channels);
    channelTypes.forEach((type, n) => {
      w.value(op("i32.eq", i(form!), wasm.i32(n + 1)));
      w.if(() => {
        for (let c = 0; c < 4; c++) {
          assignKeeping(w, firstChannel! + c, (keep) => encoded(keep, type, firstChannel! + c));
        }
        this.#storeAll(channelInfo[type].bits, channels);
        w.return();
      });
    });
  }

  /** Stores as many channels as the format has. */
  #storeAll(bits: 8 | 16 | 32, channels: number): void {
    const w = this.#w;
    for (const count of [1, 2, 4] as const) {
      w.value(op("i32.eq", i(channels), wasm.i32(count)));
      w.if(() => {
        this.#store(bits, count);
        w.return();
      });
    }
    // Three channels: no texel is a power of two.
    for (let c = 0; c < 3; c++)
      this.#eachLane((lane) => this.#storeElement(bits, firstChannel! + c, lane, (c * bits) / 8));
  }

  #store(bits: 8 | 16 | 32, count: 1 | 2 | 4): void {
    const perWord = Math.min(count, 32 / bits);
    const packed = Array.from({ length: count / perWord }, (_, n) => {
      const first = firstChannel! + n * perWord;
      for (let c = 1; c < perWord; c++) {
        const moved = op("i32x4.shl", v(first + c), wasm.i32(c * bits));
        this.#w.assign([{ local: first, value: op("v128.or", v(first), moved) }]);
      }
      return first;
    });
    const size = (perWord * bits) as 8 | 16 | 32;
    this.#eachLane((lane) => {
      for (const [n, word] of packed.entries()) this.#storeElement(size, word, lane, 4 * n);
    });
  }

  #eachLane(store: (lane: number) => void): void {
    eachLaneIn(this.#w, wasm.local("v128", lanes!), store);
  }

  #storeElement(bits: 8 | 16 | 32, from: number, lane: number, offset: number): void {
    const w = this.#w;
    w.value(wasm.lane("i32x4.extract_lane", lane, v(places!)));
    w.value(wasm.lane("i32x4.extract_lane", lane, v(from)));
    // Rows of a dense image need not be a whole number of elements apart.
    w.memory(({ 8: "i32.store8", 16: "i32.store16", 32: "i32.store" } as const)[bits], 1, offset);
  }
}
