import { channelInfo, channelTypes } from "../../numeric/texel.ts";
import { type AddressMode, addressModes } from "../../numeric/texture-coordinates.ts";
import {
  elementTypeOf,
  type ImageOptions,
  imageBytes,
  imageOptionsProblem,
  type SamplerOptions,
  type TextureOptions,
  textureProblem,
} from "../../runtime/data/image.ts";
import type { BufferSpec } from "../../runtime/job/job.ts";
import { type Fields, imageKeys, readFields, samplerKeys, textureKeys } from "./image-fields.ts";
import { imageOfFile, type TexelType } from "./image-file.ts";
import { parseBuffer, type Wrong } from "./argument-values.ts";

/** A texture or a surface as an argument. */
export interface ImageArgument {
  readonly as: "texture" | "surface";
  /** A buffer to create, or the index of the argument whose buffer, or whose image, it is. */
  readonly of: BufferSpec | number;
  readonly offset: number;
  /** Null: that of the argument whose image it is. */
  readonly image: ImageOptions | null;
  readonly texture: TextureOptions;
}

const example = "as in texture:@photo.png,filter=linear or surface:u8x4[640x480]";

/**
 * Parses what follows `texture:`, `surface:` or `image:`: where the texels are, and fields. Texels are those of a file
 * (`@photo.png`, `@x.npy`), of a new buffer (`f32x4[64x32]=iota`), or those of an argument before it (its number).
 */
export function parseImage(
  as: ImageArgument["as"],
  text: string,
  read: (path: string) => Uint8Array,
  wrong: Wrong,
): ImageArgument {
  const { source, fields } = readFields(text, as === "texture" ? textureKeys : imageKeys, `a ${as}`, wrong);
  const offset = fields.numbers("offset")?.[0] ?? 0;
  const texture = as === "texture" ? { ...samplerIn(fields), ...readingIn(fields) } : {};
  const { of, image } = sourceOf(source, fields, read, wrong);
  const problem = image === null ? null : imageOptionsProblem(image, offset);
  if (problem !== null) wrong(`no image: ${problem}`);
  if (image === null) return { as, of, offset, image, texture };
  const misread = as === "texture" ? textureProblem(image.type, texture) : null;
  if (misread !== null)
    wrong(`no texture: ${misread.replace("(see normalizedFloat)", "(`fractions` reads integers so)")}`);
  return { as, of: typeof of === "number" ? of : sized(of, image, wrong), offset, image, texture };
}

/** Parses what follows `sampler:`, which are fields. */
export function parseSampler(text: string, wrong: Wrong): SamplerOptions {
  const { fields } = readFields(`,${text}`, samplerKeys, "a sampler", wrong);
  return samplerIn(fields);
}

/** How texels are found and blended. */
function samplerIn(fields: Fields): SamplerOptions {
  const [minLod, maxLod] = fields.floats("lod", 2) ?? [];
  const given = {
    address: fields.choices<AddressMode>("address", addressModes),
    filter: fields.choice("filter", ["point", "linear"]),
    border: fields.floats("border", null),
    mipFilter: fields.choice("mip", ["point", "linear"]),
    lodBias: fields.floats("bias", 1)?.[0],
    minLod,
    maxLod,
    maxAnisotropy: fields.numbers("anisotropy")?.[0],
    compare: fields.choice("compare", ["never", "lt", "eq", "le", "gt", "ne", "ge", "always"]),
    seamless: fields.has("seams") ? false : undefined,
    normalized: fields.has("normalized") ? true : undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const readingIn = (fields: Fields): TextureOptions => ({
  ...(fields.has("fractions") ? { normalizedFloat: true } : {}),
  ...(fields.has("srgb") ? { sRGB: true } : {}),
});

/** Parses `u8x4` or `f32`; null if there is no such type. */
function texelType(text: string): TexelType | null {
  const [, name, count = "1"] = /^(\w+?)(?:x([1-4]))?$/.exec(text) ?? [];
  const type = channelTypes.find((one) => one === name);
  return type === undefined ? null : { type, channels: Number(count) as 1 | 2 | 3 | 4 };
}

/** The type that the field `type` gives. */
function typeIn(fields: Fields, wrong: Wrong): TexelType | null {
  const text = fields.text("type");
  if (text === undefined) return null;
  return texelType(text) ?? wrong(`type=${text}: there is no such texel: as in u8x4 (${channelTypes.join(" ")})`);
}

/** All but the size of a level: what the image consists of. */
function partsIn(fields: Fields): Omit<ImageOptions, "type" | "width"> {
  const one = (key: "layers" | "levels" | "samples" | "pitch"): number | undefined => fields.numbers(key)?.[0];
  const given = {
    layers: one("layers"),
    levels: one("levels"),
    samples: one("samples"),
    pitch: one("pitch"),
    layout: fields.choice("layout", ["array", "linear", "pitch"]) ?? (fields.has("pitch") ? "pitch" : undefined),
    cube: fields.has("cube") ? true : undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const sizeOf = ([width = 0, height, depth]: readonly number[]): Pick<ImageOptions, "width" | "height" | "depth"> => ({
  width,
  ...(height === undefined ? {} : { height }),
  ...(depth === undefined ? {} : { depth }),
});

/** The buffer of an image, and its shape. */
function sourceOf(
  source: string,
  fields: Fields,
  read: (path: string) => Uint8Array,
  wrong: Wrong,
): { readonly of: BufferSpec | number; readonly image: ImageOptions | null } {
  const parts = partsIn(fields);
  const size = fields.numbers("size");
  const type = typeIn(fields, wrong);
  if (source.startsWith("@")) {
    const path = source.slice(1);
    const { buffer, image } = imageOfFile(path, read(path), { type, size: size ?? null, parts }, wrong);
    return { of: buffer, image };
  }
  if (/^\d+$/.test(source)) {
    const of = Number(source);
    if (type === null && size === undefined && Object.keys(parts).length === 0) return { of, image: null };
    if (type === null || size === undefined) return wrong("type and size are missing, as in type=u8x4,size=640x480");
    return { of, image: { ...type, ...sizeOf(size), ...parts } };
  }
  const [, name = "", inner = "", init] = /^(\w+)\[([^\]]*)\](?:=(.*))?$/s.exec(source) ?? [];
  const texel = texelType(name);
  if (texel === null) {
    return wrong(`"${source}" is neither a file, the number of an argument, nor texels with their size: ${example}`);
  }
  const extent = inner.split("x").map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : 0));
  if (extent.length > 3 || extent.some((n) => n < 1)) wrong(`[${inner}]: expected a size in texels, ${example}`);
  if (type !== null || size !== undefined) wrong("type and size are for files and buffers of other arguments");
  const image = { ...texel, ...sizeOf(extent), ...parts };
  const problem = imageOptionsProblem(image, 0);
  if (problem !== null) wrong(`no image: ${problem}`);
  const element = elementTypeOf(image.type);
  const n = imageElements(image);
  const of = parseBuffer(`${element}[${n}]${init === undefined ? "" : `=${init}`}`, wrong)!;
  return { of, image };
}

/** The elements of all texels of an image. */
const imageElements = (image: ImageOptions): number => imageBytes(image) / (channelInfo[image.type].bits / 8);

function sized(buffer: BufferSpec, image: ImageOptions, wrong: Wrong): BufferSpec {
  const n = imageElements(image);
  if (buffer.n < n) wrong(`the image has ${n} elements, and the file ${buffer.n}`);
  return buffer;
}
