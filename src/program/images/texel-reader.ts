import { bitsOfFloat, channelInfo, decodedChannels, floatOfBits } from "../../numeric/texel.ts";
import type { Image } from "../../machine/images/image.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { imageRange, type TexelReading } from "./texels.ts";

/** Reads texels of one image for one lane after the other, without making an object for any of them. */
export class TexelReader {
  /** The texel that was read last. Channels that it does not have are 0, and 1 for the fourth. */
  readonly channels: Float64Array;
  readonly #image: Image;
  readonly #base: number;
  readonly #count: number;
  readonly #type: "table8" | "table16" | "u32" | "s32" | "f32";
  /** The numbers of channels of less than 32 bits; those of alpha are linear in any case. */
  readonly #colors: Float32Array;
  readonly #alphas: Float32Array;
  #call: UnitCall | null = null;
  #u8: Uint8Array = new Uint8Array(0);
  #u16: Uint16Array = new Uint16Array(0);
  #i32: Int32Array = new Int32Array(0);
  #isObserved = false;

  constructor(image: Image, { sRGB, raw }: TexelReading) {
    const { type, channels } = image.format;
    const { bits } = channelInfo[type];
    this.#image = image;
    this.#base = image.base;
    this.#count = channels;
    this.channels = Float64Array.of(0, 0, 0, raw ? bitsOfFloat(1) : 1);
    this.#type = bits === 8 ? "table8" : bits === 16 ? "table16" : raw ? "s32" : (type as "u32" | "s32" | "f32");
    this.#colors = bits === 32 ? new Float32Array(0) : decodedChannels(type, sRGB);
    this.#alphas = bits === 32 ? new Float32Array(0) : decodedChannels(type, false);
  }

  /** The lanes of a call are next. */
  begin(call: UnitCall): void {
    const { grid } = call.x.warp.cta;
    const { views } = grid.memory;
    this.#call = call;
    this.#u8 = views.u8;
    this.#u16 = views.u16;
    this.#i32 = views.i32;
    this.#isObserved = grid.observers !== null;
  }

  /** Reads the texel at an offset in the image, as a lane. */
  read(lane: number, offset: number): void {
    const at = this.#isObserved ? this.#observed(lane, offset) : this.#base + offset;
    const { channels } = this;
    const count = this.#count;
    switch (this.#type) {
      case "table8":
        for (let c = 0; c < count; c++) channels[c] = (c < 3 ? this.#colors : this.#alphas)[this.#u8[at + c]!]!;
        break;
      case "table16":
        for (let c = 0; c < count; c++) {
          channels[c] = (c < 3 ? this.#colors : this.#alphas)[this.#u16[(at >>> 1) + c]!]!;
        }
        break;
      case "u32":
        for (let c = 0; c < count; c++) channels[c] = this.#i32[(at >>> 2) + c]! >>> 0;
        break;
      case "s32":
        for (let c = 0; c < count; c++) channels[c] = this.#i32[(at >>> 2) + c]!;
        break;
      case "f32":
        for (let c = 0; c < count; c++) channels[c] = floatOfBits(this.#i32[(at >>> 2) + c]!);
        break;
    }
  }

  /** Where a texel is, of which those hear who observe the launch. */
  #observed(lane: number, offset: number): number {
    const bytes = this.#image.texelBytes;
    const { views, at } = imageRange(this.#call!, this.#image, offset, { lane, effect: "load", bytes });
    this.#u8 = views.u8;
    this.#u16 = views.u16;
    this.#i32 = views.i32;
    return at;
  }
}
