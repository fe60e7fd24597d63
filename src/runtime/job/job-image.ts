import { addressModes } from "../../numeric/texture-coordinates.ts";
import {
  type ImageOptions,
  imageBytes,
  imageOptionsProblem,
  type TextureOptions,
  textureProblem,
} from "../data/image.ts";
import { elementInfo, type ElementType } from "../data/element.ts";
import { readName } from "./job-symbol.ts";
import type { JsonField } from "./json-fields.ts";

/** A texture or surface that an argument is, over a buffer of the job. */
export interface ImageSpec {
  readonly as: "texture" | "surface";
  readonly buffer: string;
  /** In bytes. */
  readonly offset: number;
  readonly image: ImageOptions;
  readonly texture: TextureOptions;
}

/** The sizes of a buffer that decide whether an image fits. */
type Sized = ReadonlyMap<string, { readonly type: ElementType; readonly n: number }>;

const channelNames = ["u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32"] as const;
const resourceTypes = ["linear", "pitch2D", "array", "mipmappedArray"] as const;
const layouts = { linear: "linear", pitch2D: "pitch", array: "array", mipmappedArray: "array" } as const;

const resourceFields = [
  ...["type", "buf", "offset", "format", "width", "height", "depth", "pitch", "layers", "cubemap", "levels", "samples"],
  "gather",
];
const textureFields = [
  ...["resource", "addressMode", "filterMode", "readMode", "normalizedCoords", "borderColor", "sRGB"],
  ...["maxAnisotropy", "mipmapFilterMode", "mipmapLevelBias", "minMipmapLevelClamp", "maxMipmapLevelClamp"],
  ...["compare", "seamlessCubemap"],
];

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
    type: format.get("type").oneOf(channelNames),
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
  const read = optional(field.get("readMode"), (f) => f.oneOf(["elementType", "normalizedFloat"]));
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    normalized: flag(field.get("normalizedCoords")),
    normalizedFloat: read === "normalizedFloat",
    sRGB: flag(field.get("sRGB")),
  };
}

/** Reads `{"resource": ...}`, as cudaCreateTextureObject and cudaCreateSurfaceObject take it; reports one they refuse. */
export function readImage(field: JsonField, as: ImageSpec["as"], buffers: Sized): ImageSpec {
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

function spaceProblem(image: ImageOptions, offset: number, buffer: { type: ElementType; n: number } | undefined) {
  if (buffer === undefined) return null;
  const [bytes, room] = [imageBytes(image), buffer.n * elementInfo[buffer.type].size];
  if (offset + bytes <= room) return null;
  return `its ${bytes} bytes from byte ${offset} on are not in its buffer of ${room} bytes`;
}
