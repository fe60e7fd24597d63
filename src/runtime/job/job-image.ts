import { channelTypes } from "../../numeric/texel.ts";
import { addressModes } from "../../numeric/texture-coordinates.ts";
import {
  type ImageOptions,
  imageBytes,
  imageOptionsProblem,
  type SamplerOptions,
  type TextureOptions,
  textureProblem,
} from "../data/image.ts";
import { elementInfo, type ElementType } from "../data/element.ts";
import { readName } from "./job-name.ts";
import type { JsonField } from "./json-fields.ts";

/** A texture or surface over a buffer of the job. */
export interface ImageSpec {
  readonly as: "texture" | "surface";
  readonly buffer: string;
  /** In bytes. */
  readonly offset: number;
  readonly image: ImageOptions;
  readonly texture: TextureOptions;
}

/** What an argument or a variable refers to by a handle: a texture, a surface or a sampler. */
export type ObjectSpec = ImageSpec | { readonly as: "sampler"; readonly sampler: SamplerOptions };

/** The kinds of objects, by the names of the fields that describe them. */
export const objectKinds = ["texture", "surface", "sampler"] as const;

/** The size of a buffer of the job. */
export interface BufferSize {
  readonly type: ElementType;
  readonly n: number;
}

type Sized = ReadonlyMap<string, BufferSize>;

const resourceTypes = ["linear", "pitch2D", "array", "mipmappedArray"] as const;
const layouts = { linear: "linear", pitch2D: "pitch", array: "array", mipmappedArray: "array" } as const;

const resourceFields = [
  ...["type", "buf", "offset", "format", "width", "height", "depth", "pitch", "layers", "cubemap", "levels", "samples"],
  "gather",
];
const samplerFields = [
  ...["addressMode", "filterMode", "normalizedCoords", "borderColor"],
  ...["maxAnisotropy", "mipmapFilterMode", "mipmapLevelBias", "minMipmapLevelClamp", "maxMipmapLevelClamp"],
  ...["compare", "seamlessCubemap"],
];
const textureFields = ["resource", "readMode", "sRGB", ...samplerFields];

const most = 2 ** 31;

function flag(field: JsonField): boolean {
  if (!field.present) return false;
  if (field.node?.kind === "boolean") return field.node.value;
  field.fail("expected true or false");
  return false;
}

const optional = <T>(field: JsonField, read: (field: JsonField) => T): T | undefined =>
  field.present ? read(field) : undefined;

const size = (field: JsonField): number | undefined => optional(field, (f) => f.count(0, most)) || undefined;

function readResource(field: JsonField): ImageOptions {
  field.object(resourceFields);
  const format = field.get("format").object(["type", "channels"]);
  const type = field.get("type").oneOf(resourceTypes);
  const channels = optional(format.get("channels"), (f) => f.count(1, 4)) ?? 1;
  const given = {
    height: size(field.get("height")),
    depth: size(field.get("depth")),
    layers: size(field.get("layers")),
    levels: size(field.get("levels")),
    samples: size(field.get("samples")),
    pitch: type === "pitch2D" ? size(field.get("pitch")) : undefined,
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return {
    type: format.get("type").oneOf(channelTypes),
    channels: channels as 1 | 2 | 3 | 4,
    width: field.get("width").count(1, most),
    layout: layouts[type],
    cube: flag(field.get("cubemap")),
    ...known,
  };
}

const filters = ["point", "linear"] as const;
const compares = ["never", "lt", "eq", "le", "gt", "ne", "ge", "always"] as const;

function readTexture(field: JsonField): TextureOptions {
  field.object(textureFields);
  const read = optional(field.get("readMode"), (f) => f.oneOf(["elementType", "normalizedFloat"]));
  return { ...readSampler(field), normalizedFloat: read === "normalizedFloat", sRGB: flag(field.get("sRGB")) };
}

/** Reads how a texture is sampled. */
function readSampler(field: JsonField): SamplerOptions {
  const modes = optional(field.get("addressMode"), (f) =>
    f.node?.kind === "string" ? f.oneOf(addressModes) : f.items().map((item) => item.oneOf(addressModes)),
  );
  const given = {
    address: modes,
    filter: optional(field.get("filterMode"), (f) => f.oneOf(filters)),
    border: optional(field.get("borderColor"), (f) => f.items().map((item) => item.float())),
    mipFilter: optional(field.get("mipmapFilterMode"), (f) => f.oneOf(filters)),
    lodBias: optional(field.get("mipmapLevelBias"), (f) => f.float()),
    minLod: optional(field.get("minMipmapLevelClamp"), (f) => f.float()),
    maxLod: optional(field.get("maxMipmapLevelClamp"), (f) => f.float()),
    maxAnisotropy: optional(field.get("maxAnisotropy"), (f) => f.count(0, 16)),
    compare: optional(field.get("compare"), (f) => f.oneOf(compares)),
    seamless: optional(field.get("seamlessCubemap"), flag),
  };
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    normalized: flag(field.get("normalizedCoords")),
  };
}

/**
 * Reads the object that a field of this name describes, as in `{"texture": {"resource": ...}}` or `{"sampler": {...}}`;
 * null if there is none. Reports one that CUDA would refuse.
 */
export function readObject(field: JsonField, buffers: Sized): ObjectSpec | null {
  const as = objectKinds.find((name) => field.get(name).present);
  if (as === undefined) return null;
  const own = field.get(as);
  if (as !== "sampler") return readImage(own, as, buffers);
  own.object(samplerFields);
  return { as, sampler: readSampler(own) };
}

/**
 * Reads `{"resource": ...}`, as cudaCreateTextureObject and cudaCreateSurfaceObject take it; reports one they refuse.
 */
function readImage(field: JsonField, as: ImageSpec["as"], buffers: Sized): ImageSpec {
  const resource = field.get("resource");
  const image = readResource(resource);
  const texture = as === "texture" ? readTexture(field) : {};
  if (as === "surface") field.object(["resource"]);
  const buffer = readName(resource.get("buf"), "buffer", buffers);
  const offset = optional(resource.get("offset"), (f) => f.count(0, most)) ?? 0;
  const problem = imageOptionsProblem(image, offset) ?? spaceProblem(image, offset, buffers.get(buffer));
  if (problem !== null) resource.fail(`is no image: ${problem}`);
  const misread = as === "texture" ? textureProblem(image.type, texture) : null;
  if (misread !== null) field.fail(`is no texture: ${misread}`);
  return { as, buffer, offset, image, texture };
}

function spaceProblem(image: ImageOptions, offset: number, buffer: BufferSize | undefined) {
  if (buffer === undefined) return null;
  const [bytes, room] = [imageBytes(image), buffer.n * elementInfo[buffer.type].size];
  if (offset + bytes <= room) return null;
  return `its ${bytes} bytes from byte ${offset} on are not in its buffer of ${room} bytes`;
}
