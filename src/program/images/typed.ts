import type { UnitOpOf } from "../../ir/index.ts";
import { bitsOfFloat, channelInfo, encodeChannel, floatOfBits } from "../../numeric/texel.ts";
import type { Image } from "../../machine/images/image.ts";
import { forEachLane } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { boundImage } from "./sampler-message.ts";
import { elementBits, imageRange, offsetOf, readTexel, type TexelPlace } from "./texels.ts";

/** The texel at u, v and r of a lane: the layer of an array follows its other coordinates. Null outside the image. */
function placeOf(call: UnitCall, lane: number, image: Image): TexelPlace | null {
  const [u, v, r] = [call.word(1, lane), call.word(2, lane), call.word(3, lane)].map((n) => n >>> 0) as [
    ...[number, number, number],
  ];
  const { dimensions, planes } = image;
  const level = image.sizes[call.word(4, lane)] ?? null;
  if (level === null) return null;
  const isArray = image.layers !== null || image.cube;
  const [y, slice] = [dimensions > 1 ? v : 0, dimensions > 2 ? r : 0];
  const layer = !isArray ? 0 : dimensions === 1 ? v : r;
  const isInside = u < level.width && y < level.height && slice < level.depth && layer < planes;
  return isInside ? { level, x: u, y, slice, layer } : null;
}

/** Loads channels of texels for each lane: numbers, or integers, of 32 bits; zeros outside (GATHER4_TYPED). */
export const loadTyped = ({ channels }: UnitOpOf<"typed-load">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    const { type } = image.format;
    const place = placeOf(call, lane, image);
    const isFloat = channelInfo[type].value === "float";
    const texel =
      place === null
        ? [0, 0, 0, 0]
        : readTexel(call, lane, image, place, { sRGB: false, raw: type === "f32" }).map((value) =>
            isFloat && type !== "f32" ? bitsOfFloat(value) : value | 0,
          );
    for (const [i, c] of channels.entries()) call.give(i, lane, texel[c]!);
  });

/** Stores channels of texels for each lane, in the format of the surface; nothing outside (SCATTER4_TYPED). */
export const storeTyped = ({ channels }: UnitOpOf<"typed-store">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    const place = placeOf(call, lane, image);
    if (place === null) return;
    const { type, channels: count } = image.format;
    const { bits, value } = channelInfo[type];
    const written = channels.flatMap((c, i) => (c < count ? [{ c, word: call.word(5 + i, lane) }] : []));
    if (written.length === 0) return;
    const offset = offsetOf(image, place);
    const isWhole = written.length === count;
    // Channels that are not written stay as they are.
    const old = isWhole ? null : imageRange(call, image, offset, { lane, effect: "load", bytes: image.texelBytes });
    const bytes = new Uint8Array(image.texelBytes);
    const put = (c: number, word: number): void => {
      for (let bit = 0; bit < bits; bit += 8) bytes[(c * bits + bit) / 8] = word >>> bit;
    };
    if (old !== null)
      for (let c = 0; c < count; c++) put(c, elementBits({ ...old, at: old.at + (c * bits) / 8 }, bits));
    for (const { c, word } of written) {
      const number = value === "float" ? floatOfBits(word) : value === "unsigned" ? word >>> 0 : word;
      put(c, type === "f32" ? word : encodeChannel(type, number));
    }
    const range = imageRange(call, image, offset, {
      ...{ lane, effect: "store", bytes: bytes.length, contents: () => bytes },
    });
    range.views.u8.set(bytes, range.at);
  });

/** The size of a level of an image, and how many there are, for each lane (INFO). */
export const sizeOfSurface = ({ channels }: UnitOpOf<"surface-size">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    const { dimensions, layers } = image;
    const level = image.sizes[Math.min(image.levels - 1, call.word(1, lane) >>> 0)]!;
    const own = [level.width, level.height, level.depth].slice(0, dimensions);
    // The number of layers follows the sizes that the image has.
    const sizes = [...own, ...(layers === null ? [] : [layers]), 0, 0].slice(0, 3);
    const all = [...sizes, image.levels];
    for (const [i, c] of channels.entries()) call.give(i, lane, all[c]!);
  });
