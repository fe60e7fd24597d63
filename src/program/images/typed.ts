import { atomicResult, type UnitOpOf } from "../../ir/index.ts";
import { bitsOfFloat, channelInfo, encodeChannel, floatOfBits } from "../../numeric/texel.ts";
import type { Image } from "../../machine/images/image.ts";
import { updateElement } from "../../machine/memory/atomic-update.ts";
import { type Expr, fold } from "../../semantics/index.ts";
import { forEachLane } from "../units/lanes.ts";
import type { UnitCall } from "../units/unit-call.ts";
import { imageMismatch } from "./handles.ts";
import { boundImage } from "./sampler-message.ts";
import { elementBits, imageRange, offsetOf, readTexel, type TexelPlace } from "./texels.ts";

/**
 * The texel at u, v and r of a lane: the layer of an array follows its other coordinates. With `samples` the fourth
 * parameter is not the level, but the sample of a texel. Null outside the image.
 */
function placeOf(call: UnitCall, lane: number, image: Image, { samples }: { samples: boolean }): TexelPlace | null {
  if (samples !== image.samples > 1) {
    throw imageMismatch(call, lane, image, `accesses ${samples ? "samples of texels" : "texels of one sample"}`);
  }
  const [u, v, r] = [call.word(1, lane), call.word(2, lane), call.word(3, lane)].map((n) => n >>> 0) as [
    ...[number, number, number],
  ];
  const { dimensions, planes } = image;
  const fourth = call.word(4, lane) >>> 0;
  const level = image.sizes[samples ? 0 : fourth] ?? null;
  if (level === null) return null;
  const isArray = image.layers !== null || image.cube;
  const [y, slice] = [dimensions > 1 ? v : 0, samples ? fourth : dimensions > 2 ? r : 0];
  const layer = !isArray ? 0 : dimensions === 1 ? v : r;
  const slices = samples ? image.samples : level.depth;
  const isInside = u < level.width && y < level.height && slice < slices && layer < planes;
  return isInside ? { level, x: u, y, slice, layer } : null;
}

/** Loads channels of texels for each lane: numbers, or integers, of 32 bits; zeros outside (GATHER4_TYPED). */
export const loadTyped = ({ channels, samples }: UnitOpOf<"typed-load">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    const { type } = image.format;
    const place = placeOf(call, lane, image, { samples });
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
export const storeTyped = ({ channels, samples }: UnitOpOf<"typed-store">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    const place = placeOf(call, lane, image, { samples });
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

/** Updates an element of a texel for each lane, and gives what it was; zero outside (TYPED_ATOMIC, LSC_TYPED). */
export const updateTyped = (op: UnitOpOf<"typed-atomic">, call: UnitCall): void => {
  const { bits, function: name } = op;
  const ty = bits === 64 ? "i64" : "i32";
  const leaf = (index: number): Expr => ({ kind: "old", ty, index });
  const combine = atomicResult(name, { bits, bfloat: false, old: leaf(0), src0: leaf(1), src1: leaf(2) });
  forEachLane(call, (lane) => {
    const image = boundImage(call, lane);
    if (image.texelBytes * 8 !== bits) {
      throw imageMismatch(call, lane, image, `updates texels of ${bits} bits`);
    }
    const place = placeOf(call, lane, image, op);
    if (place === null) {
      call.give(0, lane, 0, 0);
      return;
    }
    const kind = { bits, order: "relaxed", scope: "gpu" } as const;
    const range = imageRange(call, image, offsetOf(image, place), { lane, effect: "atomic", bytes: bits / 8, kind });
    const operand = (n: number): number | bigint => {
      const { high, low } = call.address(4 + n, lane);
      return bits === 64 ? wide(high, low) : low | 0;
    };
    let result: number | bigint = 0;
    const old = updateElement(range.views, range.at, bits, (before) => {
      result = fold(combine, (leaf) => {
        const index = leaf.kind === "old" ? leaf.index : 0;
        return index === 0 ? before : operand(index);
      }) as number | bigint;
      return result;
    });
    const given = name === "predec" ? result : old;
    if (bits === 64) {
      const last = BigInt(given);
      call.give(0, lane, Number(BigInt.asIntN(32, last)), Number(BigInt.asIntN(32, last >> 32n)));
    } else call.give(0, lane, bits === 32 ? Number(given) : Number(given) & 0xffff);
  });
};

const wide = (high: number, low: number): bigint => BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low >>> 0));

/** The number of samples of a texel for each lane (INFO). */
export const countSamples = ({ channels }: UnitOpOf<"sample-count">, call: UnitCall): void =>
  forEachLane(call, (lane) => {
    const { samples } = boundImage(call, lane);
    for (const [i, c] of channels.entries()) call.give(i, lane, c === 0 ? samples : 0);
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
