import { addressModes } from "../../numeric/texture-coordinates.ts";
import { channelTypes } from "../../numeric/texel.ts";
import { integer, list, object, reference, type Schema, text } from "./schema-parts.ts";

const most = 2 ** 31;
const size = (description: string): Schema => integer(0, most, description);
const filter: Schema = { enum: ["point", "linear"] };
const number = (description: string): Schema => ({ type: "number", description });
const flag = (description: string): Schema => ({ type: "boolean", description });

/** The memory and the shape of an image, as cudaResourceDesc and cudaMalloc3DArray have them. */
export const resourceSchema: Schema = object(
  {
    type: { enum: ["linear", "pitch2D", "array", "mipmappedArray"], description: "How the buffer is an image." },
    buf: text("The name of the buffer that holds the texels: x fastest, then y, then z, layer or face."),
    format: object(
      { type: { enum: channelTypes, description: "unorm and snorm: integers that stand for fractions." } },
      { channels: integer(1, 4, "Default: 1.") },
    ),
    width: integer(1, most, "In texels."),
  },
  {
    offset: size("In bytes: a multiple of 16; default 0."),
    height: size("In texels; without it the image has one dimension."),
    depth: size("In texels; without it the image has at most two dimensions."),
    pitch: size("pitch2D: bytes from a row to the next, a multiple of 32."),
    layers: size("It is an array of so many images, or cubes."),
    cubemap: flag("It has six faces."),
    levels: size("mipmappedArray: the number of levels, one after the other."),
    samples: size("Samples of each texel."),
    gather: flag("Any image can be gathered from: this changes nothing."),
  },
);

const sampling: Readonly<Record<string, Schema>> = {
  addressMode: {
    anyOf: [{ enum: addressModes }, list({ enum: addressModes })],
    description: "For all dimensions, or for each. Default: clamp.",
  },
  filterMode: { ...filter, description: "Default: point." },
  normalizedCoords: flag("Coordinates go from 0 to 1. Default: false."),
  borderColor: list({ type: "number" }, "The texel outside (border). Default: zeros."),
  maxAnisotropy: integer(0, 16),
  mipmapFilterMode: { ...filter, description: "Default: point." },
  mipmapLevelBias: number("Is added to a level of detail. Default: 0."),
  minMipmapLevelClamp: number("Default: 0."),
  maxMipmapLevelClamp: number("Default: the last level."),
  compare: { enum: ["never", "lt", "eq", "le", "gt", "ne", "ge", "always"], description: "Depths. Default: le." },
  seamlessCubemap: flag("Linear filtering goes from face to face. Default: true."),
};

/** A texture, as cudaTextureDesc has it. */
export const textureSchema: Schema = object(
  { resource: reference("resource") },
  {
    readMode: { enum: ["elementType", "normalizedFloat"], description: "Default: elementType." },
    sRGB: flag("Channels of 8 bits, read as fractions, are sRGB."),
    ...sampling,
  },
);

/** A sampler of its own, which PTX's independent mode and OpenCL have. */
export const samplerSchema: Schema = object({}, sampling);

/** A surface, as cudaCreateSurfaceObject takes it. */
export const surfaceSchema: Schema = object({ resource: reference("resource") }, {});
