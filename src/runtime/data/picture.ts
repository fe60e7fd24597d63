import { type ChannelType, decodeChannel, encodeChannel } from "../../numeric/texel.ts";
import { elementInfo, Elements, type ElementType } from "./element.ts";
import { UsageError } from "./errors.ts";

/** A picture as files have it: rows from top to bottom, channels from 0 to the most that their bits hold. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** 1: gray, 2: gray and opacity, 3: red, green, blue, 4: these and opacity. */
  readonly channels: 1 | 2 | 3 | 4;
  readonly bits: 8 | 16;
  /** `width * height * channels` values. */
  readonly values: Uint8Array | Uint16Array;
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Whether a file begins as PNG files do. */
export const isPng = (bytes: Uint8Array): boolean => signature.every((byte, i) => bytes[i] === byte);

/** The kinds of pictures, by the number in the header: 0 gray, 2 color, 3 of a palette, 4 and 6 with opacity. */
const channelsOf: Readonly<Record<number, Picture["channels"]>> = { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 };

/** The size of a PNG picture, and bits of a channel, from its header. @throws UsageError if that is none */
export function pngSize(bytes: Uint8Array): Omit<Picture, "values"> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isHeader = bytes.length >= 33 && view.getUint32(12) === 0x4948_4452;
  const channels = isHeader ? channelsOf[view.getUint8(25)] : undefined;
  if (channels === undefined) throw new UsageError("the PNG file has no header");
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const most = 2 ** 28;
  if (width === 0 || height === 0 || width * height > most) {
    throw new UsageError(`the PNG file has ${width} by ${height} pixels; at most ${most} are read`);
  }
  return { width, height, channels, bits: view.getUint8(24) === 16 ? 16 : 8 };
}

/** The type of channels that elements of a type are in pictures: integers are from 0 on, and floats from 0 to 1. */
const fractionOf = (type: ElementType): ChannelType | null => {
  switch (type) {
    case "u8":
      return "unorm8";
    case "u16":
      return "unorm16";
    case "f16":
    case "f32":
      return type;
    default:
      return null;
  }
};

/** @throws UsageError if pictures have no elements of the type */
function requireFraction(type: ElementType): ChannelType {
  const fraction = fractionOf(type);
  if (fraction !== null) return fraction;
  throw new UsageError(`a PNG file has u8, u16, or f16 and f32 from 0 to 1, not ${type}`);
}

/** Which channel of a picture each channel of a texel is; `opaque` where the picture does not have it. */
const sources: { readonly [C in Picture["channels"]]: readonly (number | "opaque")[] } = {
  1: [0, 0, 0, "opaque"],
  2: [0, 0, 0, 1],
  3: [0, 1, 2, "opaque"],
  4: [0, 1, 2, 3],
};

/**
 * The pixels of a picture as elements: integers with the same part of their range, or floats from 0 to 1. Gray becomes
 * red, green and blue where more channels are asked for, and what has no opacity is opaque.
 *
 * @throws UsageError if they cannot be such elements
 */
function pictureElements(picture: Picture, type: ElementType, channels: 1 | 2 | 3 | 4): Uint8Array {
  const { bits, values, channels: own } = picture;
  const to = requireFraction(type);
  if (channels < 3 && own >= 3) {
    throw new UsageError(`a picture with colors does not fit ${channels} ${channels === 1 ? "channel" : "channels"}`);
  }
  const gray = [sources[own][0]!, own === 2 ? 1 : ("opaque" as const)];
  const from = channels < 3 ? gray.slice(0, channels) : sources[own].slice(0, channels);
  const isSame = elementInfo[type].size * 8 === bits && to.startsWith("unorm");
  if (isSame && own === channels) return new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();
  const most = 2 ** bits - 1;
  const into = Elements.zeros(type, picture.width * picture.height * channels);
  for (let at = 0, texel = 0; at < into.length; at += channels, texel += own) {
    for (const [c, source] of from.entries()) {
      const value = source === "opaque" ? most : values[texel + source]!;
      into.set(at + c, to.startsWith("unorm") ? encodeChannel(to, value / most) : value / most);
    }
  }
  return into.bytes;
}

/** The pixels of a picture as `n` elements, which say how many channels there are. @throws UsageError if none fit */
export function picturePixels(picture: Picture, type: ElementType, n: number): Uint8Array {
  const { width, height, channels: own } = picture;
  const channels = ([1, 2, 3, 4] as const).find((count) => width * height * count === n);
  if (channels !== undefined) return pictureElements(picture, type, channels);
  throw new UsageError(`a picture of ${width} by ${height} pixels of ${own} channels does not fill ${n} elements`);
}

/** A picture of elements, which lie as texels do; floats are taken from 0 to 1. @throws UsageError if there is none */
export function pictureOf(elements: Elements, width: number, channels: 1 | 2 | 3 | 4): Picture {
  const from = requireFraction(elements.type);
  const bits = from === "unorm16" ? 16 : 8;
  const to = bits === 16 ? "unorm16" : "unorm8";
  const values = bits === 16 ? new Uint16Array(elements.length) : new Uint8Array(elements.length);
  for (let i = 0; i < values.length; i++) {
    const value = Number(elements.get(i));
    values[i] = from.startsWith("unorm") ? decodeChannel(bits === 16 ? "u16" : "u8", value) : encodeChannel(to, value);
  }
  return { width, height: elements.length / (width * channels), channels, bits, values };
}
