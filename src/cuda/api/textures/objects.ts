import { imageProblem, type Image, type ImageShape, layImage } from "../../../machine/images/image.ts";
import { UsageError } from "../../../runtime/data/errors.ts";
import { type TextureOptions, textureOf, textureProblem } from "../../../runtime/data/image.ts";
import { CudaError, errors, fail, require } from "../../base/errors.ts";
import { placeOf } from "../../run/copies.ts";
import { arrayFlag, texelsOf } from "../../state/cuda-array.ts";
import type { TextureDescription } from "../../state/process-state.ts";
import { viewedAs } from "../../state/resource-view.ts";
import type { Call, Handlers, Status } from "../call.ts";
import { arrayAt } from "../regions.ts";
import { formatIn } from "./arrays.ts";

/** Kinds of resources in a cudaResourceDesc. */
const resource = { array: 0, mipmapped: 1, linear: 2, pitch: 3 } as const;
const resourceBytes = 144;
const textureBytes = 72;
const viewBytes = 112;

/** The image in ordinary memory of the device. */
export function imageAt(call: Call, address: bigint, shape: ImageShape): Image {
  const { bytes } = layImage(shape, 0);
  const place = placeOf(call.process, address, bytes);
  if (place.kind !== "device") return fail(errors.invalidValue);
  require(imageProblem(shape, place.offset) === null);
  return layImage(shape, place.offset);
}

/** The image of a cudaResourceDesc. Throws for one that is none. */
function imageIn(call: Call, view: DataView): Image {
  const word = (at: number): bigint => view.getBigUint64(at, true);
  const plain = { depth: 0, layers: null, cube: false, levels: 1, samples: 1 } as const;
  switch (view.getUint32(0, true)) {
    case resource.array:
    case resource.mipmapped:
      return arrayAt(call, word(8)).image;
    case resource.linear: {
      const format = texelsOf(formatIn(view, 16));
      const shape = { ...plain, layout: "linear", format, height: 0, pitch: 0 } as const;
      const { texelBytes } = layImage({ ...shape, width: 1 }, 0);
      return imageAt(call, word(8), { ...shape, width: Math.floor(Number(word(40)) / texelBytes) });
    }
    case resource.pitch: {
      const [width, height, pitch] = [Number(word(40)), Number(word(48)), Number(word(56))];
      const format = texelsOf(formatIn(view, 16));
      return imageAt(call, word(8), { ...plain, layout: "pitch", format, width, height, pitch });
    }
    default:
      return fail(errors.invalidValue);
  }
}

const addressModes = ["wrap", "clamp", "mirror", "border"] as const;

/** A cudaTextureDesc as the machine has it. */
function optionsIn(view: DataView): TextureOptions {
  const mode = (at: number) => addressModes[view.getUint32(at, true)] ?? fail(errors.invalidValue);
  const filter = (at: number) => (view.getUint32(at, true) === 1 ? "linear" : "point");
  const float = (at: number): number => view.getFloat32(at, true);
  return {
    address: [mode(0), mode(4), mode(8)],
    filter: filter(12),
    normalizedFloat: view.getUint32(16, true) === 1,
    sRGB: view.getUint32(20, true) !== 0,
    border: [24, 28, 32, 36].map(float),
    normalized: view.getUint32(40, true) !== 0,
    maxAnisotropy: Math.max(1, view.getUint32(44, true)),
    mipFilter: filter(48),
    lodBias: float(52),
    minLod: float(56),
    maxLod: float(60),
    seamless: view.getUint32(68, true) !== 0,
  };
}

/** What a texture is made of: an image, how it is read, and the structures that say both and how it is viewed. */
export interface TextureParts {
  readonly image: Image;
  readonly options: TextureOptions;
  readonly described: TextureDescription;
}

/** Makes a texture object for the program, whose handle goes where argument 0 says. */
export function addTexture(call: Call, { image, options, described }: TextureParts): Status {
  const viewed = described.view === null ? image : viewedAs(image, new DataView(described.view.slice().buffer));
  try {
    const handle = call.process.machine.memory.images.add(textureOf(viewed, options));
    call.process.textures.add(described, handle);
    call.set64(call.target(0), handle);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) throw new CudaError(errors.invalidValue, error.message);
    throw error;
  }
}

/** The runtime has errors of its own for texels that cannot be read as fractions, or not filtered. */
function requireFractions({ format }: Image, options: TextureOptions): void {
  const plain: TextureOptions = { ...options, sRGB: false };
  require(textureProblem(format.type, { ...plain, filter: "point" }) === null, errors.invalidNormSetting);
  require(textureProblem(format.type, plain) === null, errors.invalidFilterSetting);
}

/** object, resource, texture, view */
function createTexture(call: Call): Status {
  void call.device;
  const resource = call.host.read(call.target(1), resourceBytes);
  const texture = call.host.read(call.target(2), textureBytes);
  const view = call.address(3) === 0n ? null : call.host.read(call.address(3), viewBytes);
  const image = imageIn(call, new DataView(resource.buffer));
  const options = optionsIn(new DataView(texture.buffer));
  requireFractions(image, options);
  return addTexture(call, { image, options, described: { resource, texture, view } });
}

/**
 * object, resource, which is an array that was made for it, or a level of any: the same structure in the driver.
 * NVIDIA's bindlessTexture writes levels of arrays that were made without the flag.
 */
export function createSurface(call: Call): Status {
  const target = call.target(0);
  void call.device;
  const resourceData = call.host.read(call.target(1), resourceBytes);
  const view = new DataView(resourceData.buffer);
  require(view.getUint32(0, true) === resource.array, errors.invalidChannelDescriptor);
  const array = arrayAt(call, view.getBigUint64(8, true));
  require((array.flags & arrayFlag.surface) !== 0 || array.level !== null);
  const handle = call.process.machine.memory.images.add({ kind: "surface", image: array.image });
  call.process.textures.add({ resource: resourceData, texture: null, view: null }, handle);
  call.set64(target, handle);
  return 0;
}

/** Forgets an object of either kind. */
export function destroyObject(call: Call): Status {
  const { process } = call;
  if (call.address(0) === 0n) return 0;
  require(process.textures.remove(call.address(0)));
  process.machine.memory.images.remove(call.address(0));
  return 0;
}

/** What an object was made of: structure, object */
export const describe = (part: "resource" | "texture" | "view") => (call: Call) => {
  const target = call.target(0);
  const data = call.process.textures.get(call.address(1), errors.invalidValue)[part];
  call.poke(target, data ?? fail(errors.invalidValue));
  return 0;
};

export const textureCalls: Handlers = {
  cudaCreateTextureObject: createTexture,
  cudaDestroyTextureObject: destroyObject,
  cudaCreateSurfaceObject: createSurface,
  cudaDestroySurfaceObject: destroyObject,
  cudaGetTextureObjectResourceDesc: describe("resource"),
  cudaGetSurfaceObjectResourceDesc: describe("resource"),
  cudaGetTextureObjectTextureDesc: describe("texture"),
  cudaGetTextureObjectResourceViewDesc: describe("view"),
};
