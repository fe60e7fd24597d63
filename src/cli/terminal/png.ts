import { convertIndexedToRgb, decode, encode } from "fast-png";
import { UsageError } from "../../runtime/data/errors.ts";
import { type Picture, pngSize } from "../../runtime/data/picture.ts";

const atMost8 = (depth: number): boolean => depth < 8;

/** Values of 1, 2 or 4 bits, several to a byte and rows in whole bytes, as bytes from 0 to 255. */
function unpacked(data: Uint8Array, { width, height }: { width: number; height: number }, depth: number): Uint8Array {
  const row = Math.ceil((width * depth) / 8);
  const most = 2 ** depth - 1;
  const values = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const bit = x * depth;
      values[y * width + x] = (((data[y * row + (bit >> 3)]! >> (8 - depth - (bit & 7))) & most) * 255) / most;
    }
  }
  return values;
}

/**
 * Reads a PNG file: gray and colors, of 1 to 16 bits, with a palette or interlaced. @throws UsageError if it is none
 */
export function readPng(bytes: Uint8Array): Picture {
  const { width, height } = pngSize(bytes);
  try {
    const png = decode(bytes, { checkCrc: true });
    const { data, depth, channels, palette } = png;
    const bits = depth === 16 ? 16 : 8;
    if (palette !== undefined) {
      return { width, height, channels: palette[0]!.length as 3 | 4, bits, values: convertIndexedToRgb(png) };
    }
    const values = atMost8(depth) ? unpacked(data as Uint8Array, png, depth) : (data as Uint8Array | Uint16Array);
    return { width, height, channels: channels as Picture["channels"], bits, values };
  } catch (error) {
    throw new UsageError(`the PNG file is damaged: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Writes a PNG file. */
export const writePng = ({ width, height, channels, bits, values }: Picture): Uint8Array =>
  encode({ width, height, channels, depth: bits, data: values });
