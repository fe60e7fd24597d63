import { channelInfo, type ChannelType } from "../../numeric/texel.ts";

/** The channels of a texel: their type, and how many there are. */
export interface ImageFormat {
  readonly type: ChannelType;
  readonly channels: 1 | 2 | 3 | 4;
}

/** One size of an image: a level of detail. Offsets and pitches are in bytes. */
export interface ImageLevel {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  /** From the beginning of the image. */
  readonly offset: number;
  /** From a row to the next; from a slice (of depth, or a sample) to the next; from a layer or face to the next. */
  readonly rowPitch: number;
  readonly slicePitch: number;
  readonly layerPitch: number;
}

/**
 * How texels lie in memory: one row of them (`linear`), rows with a pitch (`pitch`), or an array whose layout is the
 * machine's affair, which is dense here.
 */
export type ImageLayout = "linear" | "pitch" | "array";

/** The size of an image in texels, and what it consists of. */
export interface ImageShape {
  readonly layout: ImageLayout;
  readonly format: ImageFormat;
  readonly width: number;
  /** 0: the image has one dimension. */
  readonly height: number;
  /** 0: the image has at most two dimensions. */
  readonly depth: number;
  /** Of an array of images: how many; of cubes, not faces. Null: it is none. */
  readonly layers: number | null;
  readonly cube: boolean;
  readonly levels: number;
  /** Samples of each texel; 1 where the image is not a multi-sample one. */
  readonly samples: number;
  /** Bytes from a row to the next (`pitch`). */
  readonly pitch: number;
}

/** An image in device memory. */
export interface Image extends ImageShape {
  readonly dimensions: 1 | 2 | 3;
  /** Layers of all cubes and of the array: at least 1. */
  readonly planes: number;
  readonly sizes: readonly ImageLevel[];
  readonly texelBytes: number;
  /** The offset of the first texel in device memory, and the bytes from there on. */
  readonly base: number;
  readonly bytes: number;
}

/** Base addresses of textures and surfaces are multiples of this (sections 9.7.10.3 and 9.7.11.1). */
const imageAlign = 16;
/** Bytes of which a pitch is a multiple (`cudaDevAttrTexturePitchAlignment`). */
const pitchAlign = 32;

/** The most texels along each dimension, as CUDA's guide has it for compute capability 5.0 and later. */
const limits = {
  linear: 2 ** 28,
  one: 131_072,
  two: [131_072, 65_536],
  three: 16_384,
  layers: 2048,
} as const;

/** The size of a texel in bytes. */
const texelBytesOf = ({ type, channels }: ImageFormat): number => (channelInfo[type].bits / 8) * channels;

const dimensionsOf = ({ height, depth }: ImageShape): 1 | 2 | 3 => (depth > 0 ? 3 : height > 0 ? 2 : 1);

/** The levels that an image of this size can have at most (section 9.7.10.2). */
const mostLevels = ({ width, height, depth }: ImageShape): number =>
  1 + Math.floor(Math.log2(Math.max(width, height, depth)));

/** Why there is no image of a shape at an offset in device memory, or null. */
export function imageProblem(shape: ImageShape, base: number): string | null {
  const { layout, width, height, depth, layers, cube, levels, samples, pitch } = shape;
  const dimensions = dimensionsOf(shape);
  const isCount = (n: number): boolean => Number.isInteger(n) && n >= 0;
  if (![width, height, depth, levels, samples, layers ?? 0].every(isCount)) return "a size is not a whole number";
  if (width < 1) return "its width is 0";
  if (depth > 0 && height < 1) return "it has a depth, but no height";
  if (layers === 0) return "it is an array of no layers";
  if (layout !== "array" && (layers !== null || cube || levels !== 1 || samples !== 1 || dimensions === 3)) {
    return `linear memory and memory with a pitch hold a single image without layers, levels or samples`;
  }
  if (layout === "linear" && dimensions !== 1) return "linear memory has one dimension";
  if (layout === "pitch" && dimensions !== 2) return "memory with a pitch has two dimensions";
  if (cube && (dimensions !== 2 || width !== height)) return "the faces of a cube are squares";
  if (layers !== null && dimensions === 3) return "there are no arrays of images of three dimensions";
  if (samples !== 1 && (dimensions !== 2 || cube || levels !== 1)) {
    return "multi-sample images have two dimensions and one level";
  }
  if (![1, 2, 4, 8, 16].includes(samples)) return `there are no images of ${samples} samples`;
  if (levels < 1 || levels > mostLevels(shape)) return `it has ${levels} levels, but at most ${mostLevels(shape)}`;
  return sizeProblem(shape) ?? placeProblem(shape, base, pitch);
}

function sizeProblem(shape: ImageShape): string | null {
  const { layout, width, height, depth, layers } = shape;
  const most =
    layout === "linear"
      ? [limits.linear]
      : [[limits.one], limits.two, [limits.three, limits.three, limits.three]][dimensionsOf(shape) - 1]!;
  const tooLarge = [width, height, depth].some((n, axis) => n > (most[axis] ?? 0));
  if (tooLarge) return `it is larger than ${most.join(" by ")} texels`;
  if ((layers ?? 0) > limits.layers) return `it has ${layers} layers, but at most ${limits.layers}`;
  return null;
}

function placeProblem(shape: ImageShape, base: number, pitch: number): string | null {
  if (base % imageAlign !== 0) return `it does not begin at a multiple of ${imageAlign} bytes`;
  if (shape.layout !== "pitch") return null;
  const row = shape.width * texelBytesOf(shape.format);
  if (pitch < row) return `its rows of ${row} bytes do not fit a pitch of ${pitch}`;
  return pitch % pitchAlign === 0 ? null : `its pitch of ${pitch} bytes is not a multiple of ${pitchAlign}`;
}

/** Lays out an image of a shape at an offset in device memory. The shape must have no `imageProblem`. */
export function layImage(shape: ImageShape, base: number): Image {
  const { width, height, depth, layers, cube, levels, samples, layout, pitch } = shape;
  const texelBytes = texelBytesOf(shape.format);
  const planes = (layers ?? 1) * (cube ? 6 : 1);
  const sizes: ImageLevel[] = [];
  let offset = 0;
  for (let level = 0; level < levels; level++) {
    const half = (size: number): number => Math.max(1, Math.floor(size / 2 ** level));
    const size = { width: half(width), height: half(height), depth: half(depth) };
    const rowPitch = layout === "pitch" ? pitch : size.width * texelBytes;
    const slicePitch = rowPitch * size.height;
    const layerPitch = slicePitch * size.depth * samples;
    sizes.push({ ...size, offset, rowPitch, slicePitch, layerPitch });
    offset += layerPitch * planes;
  }
  // The last row of memory with a pitch ends with its last texel.
  const bytes = layout === "pitch" ? offset - pitch + width * texelBytes : offset;
  return { ...shape, dimensions: dimensionsOf(shape), planes, sizes, texelBytes, base, bytes };
}

/** A shape as messages show it, as in "2d array of 3 layers of 16 by 8 texels, f32 x 2". */
export function describeImage({ dimensions, cube, layers, samples, width, height, depth, format }: Image): string {
  const kind = cube ? "cube" : `${dimensions}d`;
  const array = layers === null ? " image" : ` array of ${layers} layers`;
  const size = [width, height, depth].filter((n) => n > 0).join(" by ");
  const multi = samples > 1 ? ` of ${samples} samples` : "";
  return `${kind}${array} of ${size} texels${multi}, ${format.type} x ${format.channels}`;
}
