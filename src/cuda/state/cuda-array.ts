import { type Image, type ImageLevel, imageProblem, type ImageShape, layImage } from "../../machine/images/image.ts";
import { fillBytes } from "../../machine/memory/fill.ts";
import type { ChannelType } from "../../runtime/data/image.ts";
import { errors, fail, require } from "../base/errors.ts";
import { newHandle } from "../base/handles.ts";
import { addressOf } from "../base/addresses.ts";
import type { Allocation, Allocations } from "./allocations.ts";

/** A cudaChannelFormatDesc: the bits of each channel, and what they are. */
export interface ChannelFormat {
  readonly bits: readonly [x: number, y: number, z: number, w: number];
  readonly kind: number;
}

/** Kinds of channels by number. */
const channelKind = { signed: 0, unsigned: 1, float: 2 } as const;

const letters: Readonly<Record<number, string>> = {
  [channelKind.signed]: "s",
  [channelKind.unsigned]: "u",
  [channelKind.float]: "f",
};

/** The texels of a format. Throws for formats that no texel has. */
export function texelsOf({ bits, kind }: ChannelFormat): Image["format"] {
  const channels = bits.filter((n) => n > 0).length;
  const [size] = bits;
  const isEven = bits.every((n, i) => n === (i < channels ? size : 0));
  const isKnown = kind === channelKind.float ? size === 16 || size === 32 : size === 8 || size === 16 || size === 32;
  const letter = letters[kind];
  require(isEven && isKnown && letter !== undefined, errors.invalidChannelDescriptor);
  if (channels !== 1 && channels !== 2 && channels !== 4) return fail(errors.invalidChannelDescriptor);
  return { type: `${letter}${size}` as ChannelType, channels };
}

/** Flags of arrays. */
export const arrayFlag = { layered: 1, surface: 2, cube: 4, gather: 8, all: 15 } as const;

/** The sizes of an array as programs give them; of layered ones the depth is the number of layers, or faces. */
export interface ArrayExtent {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}

function shapeOf(format: ChannelFormat, extent: ArrayExtent, flags: number, levels: number): ImageShape {
  const { width, height, depth } = extent;
  const cube = (flags & arrayFlag.cube) !== 0;
  const isLayered = (flags & arrayFlag.layered) !== 0;
  if (cube) require(depth > 0 && depth % 6 === 0 && (isLayered || depth === 6));
  if (isLayered) require(depth > 0);
  // The four texels of a gather are those of a rectangle; arrays for it are for nothing else.
  if (flags & arrayFlag.gather) require(flags === arrayFlag.gather && height > 0 && depth === 0);
  const layers = isLayered ? (cube ? depth / 6 : depth) : null;
  const own = { width, height, depth: isLayered || cube ? 0 : depth, layers, cube };
  const most = 1 + Math.floor(Math.log2(Math.max(own.width, own.height, own.depth)));
  return {
    layout: "array",
    format: texelsOf(format),
    samples: 1,
    pitch: 0,
    levels: Math.max(1, Math.min(levels, most)),
    ...own,
  };
}

/** Memory for textures and surfaces, whose layout programs do not see. It has one level of detail or several. */
export class CudaArray {
  readonly handle = newHandle();
  readonly format: ChannelFormat;
  readonly extent: ArrayExtent;
  readonly flags: number;
  readonly image: Image;
  readonly allocation: Allocation;
  /** The level that it stands for, of an array with several; null for the whole. */
  readonly level: number | null;

  private constructor(
    about: Pick<CudaArray, "format" | "extent" | "flags" | "image" | "allocation">,
    level: number | null,
  ) {
    this.format = about.format;
    this.extent = about.extent;
    this.flags = about.flags;
    this.image = about.image;
    this.allocation = about.allocation;
    this.level = level;
  }

  /** Makes one. Throws if there is none of such a form, or no room. */
  static make(
    allocations: Allocations,
    device: number,
    about: Pick<CudaArray, "format" | "extent" | "flags"> & { readonly levels: number },
  ): CudaArray {
    const shape = shapeOf(about.format, about.extent, about.flags, about.levels);
    require(imageProblem(shape, 0) === null && (about.flags & ~arrayFlag.all) === 0);
    const { bytes } = layImage(shape, 0);
    const allocation = allocations.add(bytes, { kind: "device", device, flags: about.flags });
    fillBytes(allocations.memory.views, allocation.offset, allocation.offset + bytes);
    return new CudaArray({ ...about, allocation, image: layImage(shape, allocation.offset) }, null);
  }

  /** One of its levels as an array of its own, in the same memory. Throws if there is none. */
  levelAt(level: number): CudaArray {
    const size = this.image.sizes[level] ?? fail(errors.invalidValue);
    const { height, depth } = this.extent;
    const extent = {
      width: size.width,
      height: height && size.height,
      depth: depth && (this.image.dimensions === 3 ? size.depth : depth),
    };
    const own = { width: extent.width, height: extent.height, depth: this.image.dimensions === 3 ? extent.depth : 0 };
    const image = layImage({ ...shapeIn(this.image), ...own, levels: 1 }, this.image.base + size.offset);
    return new CudaArray({ ...this, extent, image }, level);
  }

  /** The level that copies go to. */
  get size(): ImageLevel {
    return this.image.sizes[0]!;
  }

  get address(): bigint {
    return addressOf(this.image.base);
  }
}

const shapeIn = ({
  layout,
  format,
  width,
  height,
  depth,
  layers,
  cube,
  levels,
  samples,
  pitch,
}: Image): ImageShape => ({
  ...{ layout, format, width, height, depth, layers, cube, levels, samples, pitch },
});
