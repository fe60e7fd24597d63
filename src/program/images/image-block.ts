import { type ImageBlock, imageBlockPitch, type UnitOpOf } from "../../ir/index.ts";
import type { Image, ImageLevel } from "../../machine/images/image.ts";
import { forEachLane } from "../units/lanes.ts";
import { giveBytes, takeBytes } from "../units/matrix-block.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { imageMismatch } from "./handles.ts";
import { boundImage } from "./sampler-message.ts";
import { imageRange } from "./texels.ts";

const clamp = (n: number, most: number): number => Math.max(0, Math.min(n, most));

function imageOf(call: UnitCall, lane: number): Image {
  const image = boundImage(call, lane);
  if (image.dimensions !== 2 || image.cube || image.layers !== null || image.samples > 1) {
    throw imageMismatch(call, lane, image, "accesses blocks of one of two dimensions");
  }
  return image;
}

/** The rows of an image that a block sees: their number, bytes from one to the next, and where the first is. */
function rowsOf(
  { field }: ImageBlock,
  { height, rowPitch }: ImageLevel,
): { rows: number; pitch: number; first: number } {
  if (field === null) return { rows: height, pitch: rowPitch, first: 0 };
  return { rows: (height + 1 - field) >> 1, pitch: 2 * rowPitch, first: field * rowPitch };
}

const bytesOf = (block: ImageBlock): number => imageBlockPitch(block) * block.height;

/** Loads a block of an image as bytes (MEDIA_LD, typed `lsc_load_block2d`): x counts bytes. */
export const loadImageBlock = ({ block }: UnitOpOf<"image-block-load">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = imageOf(call, lane);
    const { texelBytes } = image;
    const [level] = image.sizes as [ImageLevel];
    const { width } = level;
    const { rows, pitch, first: start } = rowsOf(block, level);
    // The second field of an image with one row has none.
    if (rows === 0) return giveBytes(call, lane, new Uint8Array(bytesOf(block)));
    const [x, y] = [call.word(1, lane), call.word(2, lane)];
    const registers = new Uint8Array(bytesOf(block));
    const isZero = block.outside === "zero";
    for (let row = 0; row < block.height; row++) {
      if (isZero && (y + row < 0 || y + row >= rows)) continue;
      const texel = (byte: number): number => clamp(Math.floor(byte / texelBytes), width - 1);
      const [first, last] = [texel(x), texel(x + block.width - 1)];
      const bytes = (last - first + 1) * texelBytes;
      const offset = start + clamp(y + row, rows - 1) * pitch + first * texelBytes;
      const { views, at } = imageRange(call, image, offset, { lane, effect: "load", bytes });
      for (let i = 0; i < block.width; i++) {
        const byte = x + i;
        if (isZero && (byte < 0 || byte >= width * texelBytes)) continue;
        const within = ((byte % texelBytes) + texelBytes) % texelBytes;
        const from = at + (texel(byte) - first) * texelBytes + within;
        registers[row * imageBlockPitch(block) + i] = views.u8[from]!;
      }
    }
    giveBytes(call, lane, registers);
  });

/** Stores a block of an image as bytes (MEDIA_ST, typed `lsc_store_block2d`): nothing outside it. */
export const storeImageBlock = ({ block }: UnitOpOf<"image-block-store">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = imageOf(call, lane);
    const [level] = image.sizes as [ImageLevel];
    const { width } = level;
    const { rows, pitch, first: start } = rowsOf(block, level);
    const [x, y] = [call.word(1, lane), call.word(2, lane)];
    const registers = takeBytes(call, lane, 3, bytesOf(block));
    const first = Math.max(0, -x);
    const bytes = Math.min(block.width, width * image.texelBytes - x) - first;
    if (bytes <= 0) return;
    for (let row = Math.max(0, -y); row < block.height && y + row < rows; row++) {
      const from = row * imageBlockPitch(block) + first;
      const contents = registers.subarray(from, from + bytes);
      const offset = start + (y + row) * pitch + x + first;
      const how = { lane, effect: "store", bytes, contents: () => contents } as const;
      const { views, at } = imageRange(call, image, offset, how);
      views.u8.set(contents, at);
    }
  });
