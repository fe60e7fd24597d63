import type { TensorBox, TensorMap } from "./tensor-map.ts";

type PixelBox = Exclude<TensorBox, { mode: "tiled" }>;

interface Request {
  readonly mode: string;
  readonly coordinates: readonly number[];
  readonly info: readonly number[];
}

/**
 * The pixels that a column takes, each by its coordinates in dimension 1 and up: W, then the other spatial dimensions,
 * then N. `info`: what the instruction adds to them (section 5.5.4), or halo and offset (5.5.5).
 */
export const pixelsOf = (map: TensorMap, box: PixelBox, request: Request): number[][] =>
  request.mode === "im2col" ? column(map, box, request) : wideColumn(map, box, request);

/** Section 5.5.4: the base of the filter moves within the pixel box, and from its end into the next image. */
function column({ globalDim, elementStrides }: TensorMap, box: PixelBox, { coordinates, info }: Request): number[][] {
  const base = coordinates.slice(1);
  const last = base.length - 1;
  const pixels: number[][] = [];
  while (pixels.length < box.pixels) {
    pixels.push(base.map((at, i) => (i < last ? at + (info[i] ?? 0) : at)));
    let d = 0;
    for (; d < last; d++) {
      base[d]! += elementStrides[d + 1]!;
      if (base[d]! <= globalDim[d + 1]! - 1 + box.upperCorner[d]!) break;
      base[d] = box.lowerCorner[d]!;
    }
    if (d === last) base[last]!++;
  }
  return pixels;
}

const wide128 = { pixels: 128, every: 32 };

/**
 * Section 5.5.5: the pixel box has size 1 in the dimensions D and H, so that a row along W is followed by that of the
 * next image. `halo` pixels follow the last pixel to its right, or every 32nd (im2col::w::128).
 */
function wideColumn(map: TensorMap, box: PixelBox, { mode, coordinates, info }: Request): number[][] {
  const [halo = 0, offset = 0] = info;
  const stride = map.elementStrides[1]!;
  const [lower, upper] = [box.lowerCorner[0]! + offset, map.globalDim[1]! - 1 + box.upperCorner[0]! + offset];
  const is128 = mode === "im2col::w::128";
  const count = is128 ? wide128.pixels : box.pixels;
  const every = is128 ? wide128.every : count;
  const at = coordinates.slice(1);
  at[0]! += offset;
  const last = at.length - 1;
  const pixels: number[][] = [];
  for (let n = 1; n <= count; n++) {
    pixels.push([...at]);
    if (n % every === 0) {
      for (let i = 1; i <= halo; i++) pixels.push([at[0]! + i * stride, ...at.slice(1)]);
    }
    at[0]! += stride;
    if (at[0]! <= upper) continue;
    at[0] = lower;
    at[last]!++;
  }
  return pixels;
}
