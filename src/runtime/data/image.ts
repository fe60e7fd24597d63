import { layImage, type Image as LaidImage, imageProblem, type ImageShape } from "../../machine/images/image.ts";
import type { ImageObject } from "../../machine/images/image-table.ts";
import { plainSampler, type Sampler } from "../../machine/images/sampler.ts";
import type { DeviceMemory } from "../../machine/memory/memory.ts";
import { type AddressMode, addressModes } from "../../numeric/texture-coordinates.ts";
import { type ChannelType, channelInfo, channelTypes } from "../../numeric/texel.ts";
import { nearest } from "../../source/index.ts";
import { Buffer, type Pointer } from "./buffer.ts";
import type { ElementType, TypedArrays } from "./element.ts";
import { UsageError } from "./errors.ts";

export type { ChannelType } from "../../numeric/texel.ts";
export type { AddressMode } from "../../numeric/texture-coordinates.ts";
export type { DepthCompare, FilterMode } from "../../machine/images/sampler.ts";

/** What an image is: the size and the type of its texels, and what it consists of. */
export interface ImageOptions {
  /** The type of a channel. `unorm8` and the like are integers that stand for fractions. */
  readonly type: ChannelType;
  /** Channels of a texel. Default: 1. */
  readonly channels?: 1 | 2 | 3 | 4;
  /** In texels. Without a height the image has one dimension, without a depth at most two. */
  readonly width: number;
  readonly height?: number;
  readonly depth?: number;
  /** It is an array of so many images; with `cube`, of cubes. */
  readonly layers?: number;
  /** It has six faces, in the order +x, -x, +y, -y, +z, -z. */
  readonly cube?: boolean;
  /** Levels of detail, each half as large as the one before it, rounded down. Default: 1. */
  readonly levels?: number;
  /** Samples of each texel: 1, 2, 4, 8 or 16. Default: 1. */
  readonly samples?: number;
  /**
   * `linear`: a row in ordinary memory, outside which there are zeros; `pitch`: rows in ordinary memory, `pitch` bytes
   * apart. Default: `array`, which may be anything, and lies dense: x fastest, then y, then z, sample, face or layer;
   * levels one after the other.
   */
  readonly layout?: "array" | "linear" | "pitch";
  /** Bytes from a row to the next, a multiple of 32. */
  readonly pitch?: number;
  /** The memory that holds the texels, from a multiple of 16 on. Default: a new buffer of zeros. */
  readonly buffer?: Buffer | Pointer;
  /** What reports call the new buffer. */
  readonly name?: string;
}

/** How a texture is sampled. */
export interface SamplerOptions {
  /** What becomes of texels outside: for all dimensions, or for each. Default: `clamp`. */
  readonly address?: AddressMode | readonly AddressMode[];
  /** Default: `point`. */
  readonly filter?: "point" | "linear";
  /** Coordinates go from 0 to 1; only then can they wrap or be mirrored. Default: false. */
  readonly normalized?: boolean;
  /** The texel outside (`border`). Default: zeros. */
  readonly border?: readonly number[];
  /** Between levels of detail. Default: `point`. */
  readonly mipFilter?: "point" | "linear";
  /** Is added to a level of detail, which is then kept from `minLod` to `maxLod`. Defaults: 0, 0, infinity. */
  readonly lodBias?: number;
  readonly minLod?: number;
  readonly maxLod?: number;
  /** How many times longer than wide the area of a fetch with gradients may be, 1 to 16. Default: 1. */
  readonly maxAnisotropy?: number;
  /** How an instruction's value is compared with a depth: it comes first. Default: `le`. */
  readonly compare?: Sampler["compare"];
  /** Whether linear filtering goes from one face of a cube to the next. Default: true. */
  readonly seamless?: boolean;
}

/** How a texture is sampled, and how its texels are read. */
export interface TextureOptions extends SamplerOptions {
  /** Integers of 8 or 16 bits are read as fractions, from 0 or -1 to 1 (`cudaReadModeNormalizedFloat`). */
  readonly normalizedFloat?: boolean;
  /** Channels are sRGB: all but the fourth become linear before they are filtered. Of 8-bit fractions only. */
  readonly sRGB?: boolean;
}

const wrong = (what: string): UsageError => new UsageError(`image: ${what}`);

function shapeOf(options: ImageOptions): ImageShape {
  refuseUnknownNames("an image", options, imageOptionNames);
  const { type, channels = 1, width, height = 0, depth = 0, layers = null, cube = false, levels = 1 } = options;
  const { samples = 1, layout = "array", pitch = 0 } = options;
  if (!channelTypes.includes(type)) throw wrong(`there are no channels of type ${JSON.stringify(type)}`);
  if (![1, 2, 3, 4].includes(channels)) throw wrong(`a texel has 1 to 4 channels, not ${String(channels)}`);
  return { layout, format: { type, channels }, width, height, depth, layers, cube, levels, samples, pitch };
}

/** Why there is no image with these options at an offset of a buffer, or null. */
export function imageOptionsProblem(options: ImageOptions, offset: number): string | null {
  const shape = shapeOf(options);
  // Buffers begin at multiples of 256, so that the offset has the alignment of the address.
  return imageProblem(shape, offset);
}

/** Why texels of a type cannot be sampled so, or null. */
export function textureProblem(type: ChannelType, options: TextureOptions): string | null {
  const read = options.normalizedFloat === true ? fractionsOf(type) : type;
  if (read === null) return "integers of 32 bits are not read as fractions";
  if (options.sRGB === true && read !== "unorm8") return "only fractions of 8 bits without a sign can be sRGB";
  if (options.filter === "linear" && channelInfo[read].value !== "float") {
    return `linear filtering needs floats or fractions, and texels are ${type} (see normalizedFloat)`;
  }
  return null;
}

/** The bytes of an image with these options, which have no problem. */
export const imageBytes = (options: ImageOptions): number => layImage(shapeOf(options), 0).bytes;

/** The elements of a buffer that holds channels of a type. */
export const elementTypeOf = (type: ChannelType): ElementType => type.replace("norm", "") as ElementType;

/**
 * An image in a device's memory, from which textures and surfaces are made. Made by `Device.image`.
 *
 *     const image = device.image({ type: "f32", width: 64, height: 64 }).write(pixels);
 *     const texture = image.texture({ filter: "linear", address: "border" });
 *     const out = device.image({ type: "u8", channels: 4, width: 64, height: 64 });
 *     kernel.launch({ grid: [8, 8], block: [8, 8], args: [texture, out.surface()] });
 *     out.read(); // Uint8Array of 64 * 64 * 4 values
 */
export class Image {
  /** The buffer in which it lies. */
  readonly buffer: Buffer;
  /** The byte of the buffer at which it begins. */
  readonly offset: number;
  readonly #laid: LaidImage;
  readonly #memory: DeviceMemory;

  /** Use `Device.image`. @internal */
  constructor(memory: DeviceMemory, options: ImageOptions) {
    const shape = shapeOf(options);
    const given = options.buffer ?? null;
    const { buffer: found, offset } = given instanceof Buffer || given === null ? { buffer: given, offset: 0 } : given;
    if (found !== null && found.memory !== memory) throw wrong("its buffer belongs to another device");
    const problem = imageProblem(shape, (found?.offset ?? 0) + offset);
    if (problem !== null) throw wrong(problem);
    const { bytes } = layImage(shape, 0);
    const { size } = { size: channelInfo[shape.format.type].bits / 8 };
    const type = elementTypeOf(shape.format.type);
    this.buffer = found ?? new Buffer(memory, type, bytes / size, options.name ?? "the image");
    this.offset = offset;
    this.#memory = memory;
    this.#laid = layImage(shape, this.buffer.offset + offset);
    if (offset < 0 || offset + bytes > this.buffer.byteLength) {
      throw wrong(`its ${bytes} bytes from byte ${offset} on are not in its buffer of ${this.buffer.byteLength} bytes`);
    }
  }

  /** The size in texels; 0 for a dimension that it does not have. */
  get width(): number {
    return this.#laid.width;
  }
  /** See `width`. */
  get height(): number {
    return this.#laid.height;
  }
  /** See `width`. */
  get depth(): number {
    return this.#laid.depth;
  }

  /** All bytes of the image. */
  get byteLength(): number {
    return this.#laid.bytes;
  }

  /** The size in texels of a level of detail, and where it lies: in bytes from the beginning of the image. */
  level(n: number): {
    readonly width: number;
    readonly height: number;
    readonly depth: number;
    readonly offset: number;
    readonly byteLength: number;
  } {
    const size = this.#laid.sizes[n];
    if (size === undefined) throw wrong(`it has no level ${n}`);
    const { width, height, depth, offset, layerPitch } = size;
    return { width, height, depth, offset, byteLength: layerPitch * this.#laid.planes };
  }

  /**
   * Writes texels, channel after channel, as they lie in memory (of the base level, then of the others). Throws as
   * `Buffer.write` does.
   */
  write(values: ArrayLike<number>): this {
    const { size } = this.#elements();
    this.buffer.write(values, this.offset / size);
    return this;
  }

  /** Returns the channels of all texels, as they lie in memory. Throws as `Buffer.read` does. */
  read(): TypedArrays[ElementType] {
    const { size } = this.#elements();
    const all = this.buffer.read();
    return all.slice(this.offset / size, (this.offset + this.#laid.bytes) / size) as TypedArrays[ElementType];
  }

  /** A texture, for kernels that sample the image. @throws UsageError if its texels cannot be read so */
  texture(options: TextureOptions = {}): ImageHandle {
    return new ImageHandle(this.#memory, textureOf(this.#laid, options));
  }

  /** A surface, for kernels that read and write texels of the base level one by one. */
  surface(): ImageHandle {
    return new ImageHandle(this.#memory, { kind: "surface", image: this.#laid });
  }

  #elements(): { readonly size: number } {
    const size = channelInfo[this.#laid.format.type].bits / 8;
    const { type } = this.buffer;
    if (type !== elementTypeOf(this.#laid.format.type)) {
      throw wrong(`its buffer holds ${type}, not ${this.#laid.format.type}: read and write the buffer`);
    }
    return { size };
  }
}

/** A texture of an image, sampled as options say. @throws UsageError if its texels cannot be read so */
export function textureOf(laid: LaidImage, options: TextureOptions): ImageObject {
  const { normalizedFloat = false, sRGB = false } = options;
  const { type, channels } = laid.format;
  const problem = textureProblem(type, options);
  if (problem !== null) throw wrong(problem);
  const read = normalizedFloat ? (fractionsOf(type) ?? type) : type;
  return { kind: "texture", image: { ...laid, format: { type: read, channels } }, sampler: samplerOf(options), sRGB };
}

/** Integers as fractions; what is one, or a float, stays so. Null: there are no such fractions. */
function fractionsOf(type: ChannelType): ChannelType | null {
  switch (type) {
    case "u8":
      return "unorm8";
    case "s8":
      return "snorm8";
    case "u16":
      return "unorm16";
    case "s16":
      return "snorm16";
    case "u32":
    case "s32":
      return null;
    default:
      return type;
  }
}

/** The words that options of a sampler may have. */
const words = {
  filter: ["point", "linear"],
  mipFilter: ["point", "linear"],
  compare: ["never", "lt", "eq", "le", "gt", "ne", "ge", "always"],
} as const satisfies { readonly [K in "filter" | "mipFilter" | "compare"]: readonly Sampler[K][] };

/** The names of all options: of samplers, and of textures, which have those of samplers too. */
const textureOptionNames: readonly (keyof TextureOptions)[] = [
  ...(["address", "filter", "normalized", "border", "mipFilter", "lodBias", "minLod", "maxLod"] as const),
  ...(["maxAnisotropy", "compare", "seamless", "normalizedFloat", "sRGB"] as const),
];
const imageOptionNames: readonly (keyof ImageOptions)[] = [
  ...(["type", "channels", "width", "height", "depth", "layers", "cube", "levels", "samples"] as const),
  ...(["layout", "pitch", "buffer", "name"] as const),
];

function refuseUnknownNames(what: string, options: object, names: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = nearest(unknown, names);
  const hint = meant === null ? `there are ${names.join(", ")}` : `did you mean "${meant}"?`;
  throw new UsageError(`${what} has no option "${unknown}"; ${hint}`);
}

function refuseUnknownWords(options: SamplerOptions): void {
  refuseUnknownNames("a texture", options, textureOptionNames);
  for (const name of ["filter", "mipFilter", "compare"] as const) {
    const given = options[name];
    if (given === undefined || (words[name] as readonly string[]).includes(given)) continue;
    throw new UsageError(`sampler: ${name} is one of ${words[name].join(", ")}, not ${JSON.stringify(given)}`);
  }
  const { border = [] } = options;
  if (!Array.isArray(border) || border.some((channel) => typeof channel !== "number")) {
    throw new UsageError("sampler: the border is a list of numbers, a channel each");
  }
}

/** The sampler that options ask for. @throws UsageError if there is none */
export function samplerOf(options: SamplerOptions): Sampler {
  refuseUnknownWords(options);
  const { address = "clamp", border = [], filter = "point", normalized = false, maxAnisotropy = 1 } = options;
  const modes = typeof address === "string" ? [address, address, address] : address;
  const unknown = modes.find((mode) => !addressModes.includes(mode));
  if (unknown !== undefined) throw new UsageError(`sampler: there is no address mode ${JSON.stringify(unknown)}`);
  const mode = (axis: number): AddressMode => modes[axis] ?? "clamp";
  const color = (channel: number): number => border[channel] ?? 0;
  const { mipFilter, lodBias, minLod, maxLod, compare, seamless } = { ...plainSampler, ...options };
  return {
    address: [mode(0), mode(1), mode(2)],
    ...{ filter, normalized, mipFilter, lodBias, minLod, maxLod, compare, seamless },
    border: [color(0), color(1), color(2), color(3)],
    maxAnisotropy: Math.max(1, Math.min(16, maxAnisotropy)),
  };
}

/**
 * A texture, a surface or a sampler: an argument for a kernel's parameter of 64 bits, which gets its handle. Made by
 * `Image.texture`, `Image.surface` and `Device.sampler`.
 *
 * Programs that declare `.texref`, `.samplerref` or `.surfref` variables find the handle there:
 * `module.variable("tex").write(texture.handle)`.
 */
export class ImageHandle {
  /** What it is. */
  readonly kind: "texture" | "surface" | "sampler";
  /** The number that kernels see. It is not used again after `free`. */
  readonly handle: bigint;
  readonly #memory: DeviceMemory;

  /** Use `Image.texture`, `Image.surface` or `Device.sampler`. @internal */
  constructor(memory: DeviceMemory, object: ImageObject) {
    this.kind = object.kind;
    this.#memory = memory;
    this.handle = memory.images.add(object);
  }

  /** The memory of its device. @internal */
  get memory(): DeviceMemory {
    return this.#memory;
  }

  /** Frees the object, not the image's memory. A kernel that still uses it is reported. */
  free(): void {
    if (!this.#memory.images.remove(this.handle)) throw new UsageError(`the ${this.kind} has been freed`);
  }
}
