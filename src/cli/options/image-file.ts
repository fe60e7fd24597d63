import { type ChannelType, channelTypes } from "../../numeric/texel.ts";
import { elementTypeOf, type ImageOptions } from "../../runtime/data/image.ts";
import { asType, isNumpy, readNumpy } from "../../runtime/data/npy.ts";
import { isPng, pngSize } from "../../runtime/data/picture.ts";
import type { BufferSpec } from "../../runtime/job/job.ts";
import type { Wrong } from "./argument-values.ts";

/** The type of a channel and how many there are: `u8x4`, `f32`. */
export interface TexelType {
  readonly type: ChannelType;
  readonly channels: 1 | 2 | 3 | 4;
}

/** What the fields of an argument say about an image whose texels are in a file. */
interface Given {
  readonly type: TexelType | null;
  readonly size: readonly number[] | null;
  readonly parts: Omit<ImageOptions, "type" | "width">;
}

interface FileImage {
  readonly buffer: BufferSpec;
  readonly image: ImageOptions;
}

/** The image that a file holds, PNG or NumPy, and the buffer for its texels. */
export function imageOfFile(path: string, bytes: Uint8Array, given: Given, wrong: Wrong): FileImage {
  if (isPng(bytes)) return ofPicture(path, bytes, given, wrong);
  if (isNumpy(bytes)) return ofArray(bytes, given, wrong);
  return wrong(`${path} is neither a PNG file nor an .npy file`);
}

/** Faces of cubes and layers lie one below the other in a picture. */
const planesIn = ({ layers, cube }: Given["parts"]): number => (layers ?? 1) * (cube === true ? 6 : 1);

function ofPicture(path: string, bytes: Uint8Array, { type, size, parts }: Given, wrong: Wrong): FileImage {
  const { width, height, channels: own, bits } = pngSize(bytes);
  if (size !== null) wrong("the size of an image from a PNG file is that of the picture");
  if (parts.levels !== undefined || parts.samples !== undefined || parts.pitch !== undefined) {
    wrong("a PNG file has neither levels nor samples nor a pitch");
  }
  const texel = type ?? { type: `u${bits}` as const, channels: own === 3 ? 4 : own };
  const planes = planesIn(parts);
  if (height % planes !== 0) wrong(`the ${height} rows of the picture are not ${planes} images of the same height`);
  const image = { ...texel, width, height: height / planes, ...parts };
  const n = width * height * texel.channels;
  const buffer = { type: elementTypeOf(texel.type), n, init: { gen: "file", path } as const, sha256: null };
  return { buffer, image };
}

/** The texels of an array: rows, and columns, whose last dimension may be the channels. */
function ofArray(bytes: Uint8Array, { type, size, parts }: Given, wrong: Wrong): FileImage {
  const array = readNumpy(bytes);
  const own = channelTypes.find((one) => one === array.type);
  const shape =
    size === null ? shapeOf(array.shape, type?.channels ?? null, parts, wrong) : { size, channels: 1 as const };
  if (type === null && own === undefined) {
    return wrong(
      `no texels have channels of ${array.type}: say type=f32 or the like, to which the values are converted`,
    );
  }
  const texel = type ?? { type: own!, channels: shape.channels };
  const element = elementTypeOf(texel.type);
  const data = asType(array, element);
  const n = array.shape.reduce((product, length) => product * length, 1);
  const [width = 0, height, depth] = shape.size;
  const image = {
    ...texel,
    width,
    ...(height === undefined ? {} : { height }),
    ...(depth === undefined ? {} : { depth }),
    ...parts,
  };
  return { buffer: { type: element, n, init: { gen: "bytes", data }, sha256: null }, image };
}

/**
 * The size that an array of these dimensions has: `(width)`, `(height, width)` or `(depth, height, width)`, each with
 * the channels after it or without; the first of three is the number of layers or faces where it is an array or a cube.
 */
function shapeOf(
  dimensions: readonly number[],
  wanted: number | null,
  parts: Given["parts"],
  wrong: Wrong,
): { readonly size: readonly number[]; readonly channels: TexelType["channels"] } {
  const last = dimensions.at(-1) ?? 0;
  const isChannels = wanted === null ? dimensions.length >= 3 && last >= 1 && last <= 4 : wanted > 1 && last === wanted;
  const rest = isChannels ? dimensions.slice(0, -1) : dimensions;
  const isPlanes = planesIn(parts) > 1 || parts.layers !== undefined;
  const size = [...(isPlanes ? rest.slice(1) : rest)].reverse();
  if (size.length < 1 || size.length > 3)
    wrong(`an array of ${dimensions.length} dimensions is no image: give size=640x480`);
  return { size, channels: (isChannels ? last : 1) as TexelType["channels"] };
}
