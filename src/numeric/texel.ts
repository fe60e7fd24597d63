import { power } from "./elementary.ts";
import { f16ToNumber, numberToF16 } from "./half.ts";

/**
 * The type of a channel. `unorm` and `snorm` are integers that stand for fractions, from 0 to 1 and from -1 to 1.
 */
export type ChannelType =
  | "u8"
  | "s8"
  | "u16"
  | "s16"
  | "u32"
  | "s32"
  | "f16"
  | "f32"
  | "unorm8"
  | "snorm8"
  | "unorm16"
  | "snorm16";

/** All types of channels. */
export const channelTypes: readonly ChannelType[] = [
  ...(["u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32"] as const),
  ...(["unorm8", "snorm8", "unorm16", "snorm16"] as const),
];

/** By type: the bits of a channel, and what a fetch makes of it. */
export const channelInfo: {
  readonly [T in ChannelType]: { readonly bits: 8 | 16 | 32; readonly value: "unsigned" | "signed" | "float" };
} = {
  u8: { bits: 8, value: "unsigned" },
  s8: { bits: 8, value: "signed" },
  u16: { bits: 16, value: "unsigned" },
  s16: { bits: 16, value: "signed" },
  u32: { bits: 32, value: "unsigned" },
  s32: { bits: 32, value: "signed" },
  f16: { bits: 16, value: "float" },
  f32: { bits: 32, value: "float" },
  unorm8: { bits: 8, value: "float" },
  snorm8: { bits: 8, value: "float" },
  unorm16: { bits: 16, value: "float" },
  snorm16: { bits: 16, value: "float" },
};

const { fround } = Math;
const word = new Int32Array(1);
const float = new Float32Array(word.buffer);

/** The binary32 number with a bit pattern. */
export const floatOfBits = (bits: number): number => ((word[0] = bits), float[0]!);
/** The bit pattern of a number rounded to binary32, as a signed number. */
export const bitsOfFloat = (value: number): number => ((float[0] = value), word[0]!);

const signed = (bits: number, width: number): number => (bits << (32 - width)) >> (32 - width);
const normalized = (value: number, most: number): number => Math.max(fround(value / most), -1);

/** The number that a channel holds, from its bits (the low ones of `bits`); numbers of floats are those of binary32. */
export function decodeChannel(type: ChannelType, bits: number): number {
  switch (type) {
    case "u8":
      return bits & 0xff;
    case "u16":
      return bits & 0xffff;
    case "u32":
      return bits >>> 0;
    case "s8":
      return signed(bits, 8);
    case "s16":
      return signed(bits, 16);
    case "s32":
      return bits | 0;
    case "f16":
      return f16ToNumber(bits & 0xffff);
    case "f32":
      return floatOfBits(bits);
    case "unorm8":
      return fround((bits & 0xff) / 0xff);
    case "unorm16":
      return fround((bits & 0xffff) / 0xffff);
    case "snorm8":
      return normalized(signed(bits, 8), 0x7f);
    case "snorm16":
      return normalized(signed(bits, 16), 0x7fff);
  }
}

const clamped = (value: number, least: number, most: number): number =>
  value !== value ? 0 : Math.max(least, Math.min(most, value));

/** Rounds to the nearest integer, ties to even. */
function nearestEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

/** The bits of a channel that holds a number: integers saturate, fractions are rounded to the nearest, ties to even. */
export function encodeChannel(type: ChannelType, value: number): number {
  switch (type) {
    case "u8":
      return clamped(value, 0, 0xff);
    case "u16":
      return clamped(value, 0, 0xffff);
    case "u32":
      return clamped(value, 0, 0xffff_ffff) | 0;
    case "s8":
      return clamped(value, -0x80, 0x7f) & 0xff;
    case "s16":
      return clamped(value, -0x8000, 0x7fff) & 0xffff;
    case "s32":
      return clamped(value, -0x8000_0000, 0x7fff_ffff) | 0;
    case "f16":
      return numberToF16(value);
    case "f32":
      return bitsOfFloat(value);
    case "unorm8":
      return nearestEven(clamped(value, 0, 1) * 0xff);
    case "unorm16":
      return nearestEven(clamped(value, 0, 1) * 0xffff);
    case "snorm8":
      return nearestEven(clamped(value, -1, 1) * 0x7f) & 0xff;
    case "snorm16":
      return nearestEven(clamped(value, -1, 1) * 0x7fff) & 0xffff;
  }
}

const tables = new Map<string, Float32Array>();

/**
 * The numbers that a channel of 8 or 16 bits may hold, by its bits: all of them are numbers of binary32. With `sRGB`
 * linear intensities.
 */
export function decodedChannels(type: ChannelType, sRGB: boolean): Float32Array {
  const name = `${type} ${sRGB}`;
  let table = tables.get(name);
  if (table === undefined) {
    const decode = (_: unknown, bits: number): number => decodeChannel(type, bits);
    table = Float32Array.from({ length: 2 ** channelInfo[type].bits }, decode);
    if (sRGB) table = table.map(linearOfSrgb);
    tables.set(name, table);
  }
  return table;
}

/** The linear intensity of a channel in sRGB, from 0 to 1 (IEC 61966-2-1). */
export const linearOfSrgb = (value: number): number =>
  fround(value <= 0.04045 ? value / 12.92 : power((value + 0.055) / 1.055, 2.4));
