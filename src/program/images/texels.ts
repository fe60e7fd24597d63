import { bitsOfFloat, channelInfo, decodeChannel, linearOfSrgb } from "../../numeric/texel.ts";
import type { Image, ImageLevel } from "../../machine/images/image.ts";
import { parts } from "../../machine/memory/address-space.ts";
import type { Range, RangeRequest, UnitCall } from "../units/unit-call.ts";

/** A texel of a level of an image: in a slice of depth, or a sample, of a layer. */
export interface TexelPlace {
  readonly level: ImageLevel;
  readonly x: number;
  readonly y: number;
  readonly slice: number;
  readonly layer: number;
}

/** The byte of a texel, from the beginning of its image. */
export const offsetOf = ({ texelBytes }: Image, { level, x, y, slice, layer }: TexelPlace): number =>
  level.offset + layer * level.layerPitch + slice * level.slicePitch + y * level.rowPitch + x * texelBytes;

/**
 * Bytes of an image, which is known to lie in device memory. Those who observe the launch hear of the access, and
 * misuse of the memory is found, only where somebody does.
 */
export function imageRange(
  call: UnitCall,
  image: Image,
  offset: number,
  how: Pick<RangeRequest, "lane" | "effect" | "bytes" | "kind" | "contents">,
): Range {
  const { grid } = call.x.warp.cta;
  const at = image.base + offset;
  if (grid.observers === null) return { views: grid.memory.views, at };
  return call.range({ ...how, space: "global", address: parts(grid.addresses.global(at)), align: 1 });
}

/** The bits of an element of memory, extended with zeros. `at` is a multiple of its size. */
export function elementBits({ views, at }: Range, bits: 8 | 16 | 32): number {
  if (bits === 8) return views.u8[at]!;
  return bits === 16 ? views.u16[at >>> 1]! : views.i32[at >>> 2]!;
}

/** The bits of an element at any byte: rows of a dense image need not be a whole number of elements apart. */
export function unalignedBits({ views: { u8 }, at }: Range, bits: 8 | 16 | 32): number {
  let value = 0;
  for (let bit = 0; bit < bits; bit += 8) value |= u8[at + bit / 8]! << bit;
  return value;
}

/** How the channels of a texel are read. */
export interface TexelReading {
  readonly sRGB: boolean;
  /** Floats of 32 bits are given by their bits, so that a NaN stays what it is. */
  readonly raw: boolean;
}

/**
 * Reads the channels of a texel: numbers of binary32, or integers. Those that it does not have are 0, and 1 for the
 * fourth.
 */
export function readTexel(
  call: UnitCall,
  lane: number,
  image: Image,
  place: TexelPlace,
  { sRGB, raw }: TexelReading,
): number[] {
  const { channels } = image.format;
  const type = raw ? "s32" : image.format.type;
  const { bits } = channelInfo[type];
  const { views, at } = imageRange(call, image, offsetOf(image, place), {
    ...{ lane, effect: "load", bytes: image.texelBytes },
  });
  const texel = [0, 0, 0, raw ? bitsOfFloat(1) : 1];
  for (let c = 0; c < channels; c++) {
    const value = decodeChannel(type, elementBits({ views, at: at + (c * bits) / 8 }, bits));
    texel[c] = sRGB && c < 3 ? linearOfSrgb(value) : value;
  }
  return texel;
}
