import type { TextureOptions } from "../../../runtime/data/image.ts";
import { errors, fail, require } from "../../base/errors.ts";
import { arrayFlag, type ChannelFormat, texelsOf } from "../../state/cuda-array.ts";
import { layImage } from "../../../machine/images/image.ts";
import { Bytes, type Call, type Handler, type Handlers, type Status } from "../call.ts";
import { arrayAt, arrayRegion, copyRegion } from "../regions.ts";
import { addArray, arrayCalls, freeArray, line, linearTexels } from "../textures/arrays.ts";
import { addTexture, createSurface, describe, destroyObject, imageAt } from "../textures/objects.ts";
import { deviceNumber, sameAs } from "./contexts.ts";
import { inContext, initialized } from "./driver-call.ts";

/** Formats by number: CUarray_format. */
const formats: Readonly<Record<number, readonly [bits: number, kind: number]>> = {
  1: [8, 1],
  2: [16, 1],
  3: [32, 1],
  8: [8, 0],
  9: [16, 0],
  10: [32, 0],
  16: [16, 2],
  32: [32, 2],
};

/** A format and a number of channels, one word after the other. */
export function formatIn(view: DataView, at: number): ChannelFormat {
  const [bits, kind] = formats[view.getUint32(at, true)] ?? fail(errors.invalidValue);
  const channels = view.getUint32(at + 4, true);
  require(channels === 1 || channels === 2 || channels === 4);
  const has = (i: number): number => (i < channels ? bits : 0);
  return { bits: [has(0), has(1), has(2), has(3)], kind };
}

/** The two words of a format. */
export function formatWords({ bits, kind }: ChannelFormat): readonly [format: number, channels: number] {
  const found = Object.entries(formats).find(([, [b, k]]) => b === bits[0] && k === kind);
  return [Number(found![0]), bits.filter((n) => n > 0).length];
}

/** A size in a structure. */
export const sizeAt = (view: DataView, at: number): number => Number(view.getBigUint64(at, true));

/** array, CUDA_ARRAY_DESCRIPTOR */
function create(call: Call): Status {
  const view = call.host.view(call.target(1), 24);
  const extent = { width: sizeAt(view, 0), height: sizeAt(view, 8), depth: 0 };
  return addArray(call, formatIn(view, 16), { extent, flags: 0, levels: 1 });
}

/** array, CUDA_ARRAY3D_DESCRIPTOR. `levels`: of detail. */
function create3D(call: Call, levels: number): Status {
  const view = call.host.view(call.target(1), 40);
  const extent = { width: sizeAt(view, 0), height: sizeAt(view, 8), depth: sizeAt(view, 16) };
  return addArray(call, formatIn(view, 24), { extent, flags: view.getUint32(32, true) & arrayFlag.all, levels });
}

/** descriptor, array */
const describeArray =
  (is3D: boolean): Handler =>
  (call) => {
    const { format, extent, flags } = arrayAt(call, call.address(1));
    const [type, channels] = formatWords(format);
    const out = new Bytes(is3D ? 40 : 24).u64(0, extent.width).u64(8, extent.height);
    if (is3D) out.u64(16, extent.depth).u32(32, flags);
    out.u32(is3D ? 24 : 16, type).u32(is3D ? 28 : 20, channels);
    call.poke(call.target(0), out.data);
    return 0;
  };

/** An end of a copy of bytes: of an array, with a place in it, or of other memory. */
type End = readonly [kind: "array" | "memory", argument: number];

/** A copy of bytes to or from an array, whose rows they fill one after the other. */
const copyBytes =
  (to: End, from: End, direction: number, isAsync: boolean): Handler =>
  (call) => {
    const last = Math.max(to[1] + (to[0] === "array" ? 2 : 1), from[1] + (from[0] === "array" ? 2 : 1));
    const bytes = call.size(last);
    const region = ([kind, i]: End) => {
      if (kind === "memory") return line(call.address(i), bytes).region;
      return line(arrayRegion(arrayAt(call, call.address(i)), call.size(i + 1), 0).address, bytes).region;
    };
    const copy = { to: region(to), from: region(from), extent: line(0n, bytes).extent, kind: direction };
    return copyRegion(call, copy, isAsync ? call.stream(last + 1) : call.defaultStream, isAsync);
  };

const kinds = { array: 0, mipmapped: 1, linear: 2, pitch: 3 } as const;

/** The image of a CUDA_RESOURCE_DESC. */
function imageIn(call: Call, view: DataView) {
  const address = view.getBigUint64(8, true);
  const kind = view.getUint32(0, true);
  if (kind === kinds.array || kind === kinds.mipmapped) return arrayAt(call, address).image;
  require(kind === kinds.linear || kind === kinds.pitch);
  const format = texelsOf(formatIn(view, 16));
  const plain = { depth: 0, layers: null, cube: false, levels: 1, samples: 1, format } as const;
  if (kind === kinds.pitch) {
    const [width, height, pitch] = [sizeAt(view, 24), sizeAt(view, 32), sizeAt(view, 40)];
    return imageAt(call, address, { ...plain, layout: "pitch", width, height, pitch });
  }
  const shape = { ...plain, layout: "linear", height: 0, pitch: 0 } as const;
  const { texelBytes } = layImage({ ...shape, width: 1 }, 0);
  return imageAt(call, address, { ...shape, width: Math.floor(sizeAt(view, 24) / texelBytes) });
}

/** Ways of addressing by number: CUaddress_mode. */
export const addressModes = ["wrap", "clamp", "mirror", "border"] as const;
/** Flags of textures. */
export const flag = { asInteger: 1, normalized: 2, sRGB: 0x10, seamless: 0x40 } as const;

/** A CUDA_TEXTURE_DESC as the machine has it. */
function optionsIn(view: DataView): TextureOptions {
  const mode = (at: number) => addressModes[view.getUint32(at, true)] ?? fail(errors.invalidValue);
  const filter = (at: number) => (view.getUint32(at, true) === 1 ? "linear" : "point");
  const float = (at: number): number => view.getFloat32(at, true);
  const has = (bit: number): boolean => (view.getUint32(16, true) & bit) !== 0;
  return {
    address: [mode(0), mode(4), mode(8)],
    filter: filter(12),
    normalizedFloat: !has(flag.asInteger),
    normalized: has(flag.normalized),
    sRGB: has(flag.sRGB),
    seamless: has(flag.seamless),
    maxAnisotropy: Math.max(1, view.getUint32(20, true)),
    mipFilter: filter(24),
    lodBias: float(28),
    minLod: float(32),
    maxLod: float(36),
    border: [40, 44, 48, 52].map(float),
  };
}

/** Texels of 32 bits are what they are, whatever the flag says. */
export const isSmallInteger = (type: string): boolean => /^[us](8|16)$/.test(type);

/** object, resource, texture, view */
function createTexture(call: Call): Status {
  const resource = call.host.read(call.target(1), 144);
  const texture = call.host.read(call.target(2), 104);
  const view = call.address(3) === 0n ? null : call.host.read(call.address(3), 112);
  const image = imageIn(call, new DataView(resource.buffer));
  const options = optionsIn(new DataView(texture.buffer));
  const normalizedFloat = options.normalizedFloat === true && isSmallInteger(image.format.type);
  return addTexture(call, { image, options: { ...options, normalizedFloat }, described: { resource, texture, view } });
}

const [array0, memory0, array1, memory1, array2] = [
  ["array", 0],
  ["memory", 0],
  ["array", 1],
  ["memory", 2],
  ["array", 2],
] as const;

export const driverArrayCalls: Handlers = {
  /** width, format, channels, device */
  cuDeviceGetTexture1DLinearMaxWidth: initialized((call) => {
    const target = call.target(0);
    formatIn(new DataView(Uint32Array.of(call.uint(1), call.uint(2)).buffer), 0);
    deviceNumber(call, 3);
    call.set64(target, linearTexels);
    return 0;
  }),
  cuArrayCreate_v2: inContext(create),
  cuArray3DCreate_v2: inContext((call) => create3D(call, 1)),
  /** array, descriptor, levels */
  cuMipmappedArrayCreate: inContext((call) => create3D(call, call.uint(2))),
  cuArrayDestroy: inContext(freeArray),
  cuMipmappedArrayDestroy: inContext(freeArray),
  cuMipmappedArrayGetLevel: inContext(sameAs(arrayCalls, "cudaGetMipmappedArrayLevel")),
  cuArrayGetDescriptor_v2: inContext(describeArray(false)),
  cuArray3DGetDescriptor_v2: inContext(describeArray(true)),
  cuArrayGetPlane: inContext(sameAs(arrayCalls, "cudaArrayGetPlane")),
  cuArrayGetSparseProperties: inContext(sameAs(arrayCalls, "cudaArrayGetSparseProperties")),
  cuArrayGetMemoryRequirements: inContext(sameAs(arrayCalls, "cudaArrayGetMemoryRequirements")),
  cuMipmappedArrayGetMemoryRequirements: inContext(sameAs(arrayCalls, "cudaMipmappedArrayGetMemoryRequirements")),
  cuMemcpyHtoA_v2: inContext(copyBytes(array0, memory1, 1, false)),
  cuMemcpyHtoAAsync_v2: inContext(copyBytes(array0, memory1, 1, true)),
  cuMemcpyDtoA_v2: inContext(copyBytes(array0, memory1, 3, false)),
  cuMemcpyAtoH_v2: inContext(copyBytes(memory0, array1, 2, false)),
  cuMemcpyAtoHAsync_v2: inContext(copyBytes(memory0, array1, 2, true)),
  cuMemcpyAtoD_v2: inContext(copyBytes(memory0, array1, 3, false)),
  cuMemcpyAtoA_v2: inContext(copyBytes(array0, array2, 3, false)),
  cuTexObjectCreate: inContext(createTexture),
  cuTexObjectDestroy: inContext(destroyObject),
  cuTexObjectGetResourceDesc: inContext(describe("resource")),
  cuTexObjectGetTextureDesc: inContext(describe("texture")),
  cuTexObjectGetResourceViewDesc: inContext(describe("view")),
  cuSurfObjectCreate: inContext(createSurface),
  cuSurfObjectDestroy: inContext(destroyObject),
  cuSurfObjectGetResourceDesc: inContext(describe("resource")),
};
