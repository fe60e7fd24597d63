import { type Image, layImage } from "../../../machine/images/image.ts";
import type { ImageObject } from "../../../machine/images/image-table.ts";
import { UsageError } from "../../../runtime/data/errors.ts";
import { textureOf } from "../../../runtime/data/image.ts";
import { CudaError, errors, fail, require } from "../../base/errors.ts";
import { texelsOf } from "../../state/cuda-array.ts";
import { ImageReference } from "../../state/image-reference.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import { arrayAt } from "../regions.ts";
import { imageAt } from "../textures/objects.ts";
import { addressModes, flag, formatIn, formatWords, isSmallInteger, sizeAt } from "./arrays.ts";
import { inContext } from "./driver-call.ts";

/*
 * References to textures and surfaces: variables of modules (`.texref`, `.surfref`) to which a program binds an array
 * or memory. Whatever is set counts from the next launch on, which finds a handle in the variable.
 */

const referenceAt = (call: Call, i: number): ImageReference => call.process.references.get(call.address(i));

/** Puts the handle of an object into the variable of a reference, in place of the last one. */
function bind(call: Call, reference: ImageReference, object: ImageObject): Status {
  const { images } = call.process.machine.memory;
  if (reference.bound !== null) images.remove(reference.bound);
  reference.bound = images.add(object);
  reference.variable?.write(reference.bound);
  return 0;
}

/** Makes the texture of a reference anew, if something is bound to it. */
function rebind(call: Call, reference: ImageReference): Status {
  const { image, address, filter, mipFilter, flags, maxAnisotropy, border, resource } = reference;
  if (image === null) return 0;
  const normalizedFloat = (flags & flag.asInteger) === 0 && isSmallInteger(image.format.type);
  // A reference to linear memory is fetched from by integers, without a filter.
  const own = resource === "linear" ? "point" : filter;
  try {
    const texture = textureOf(image, {
      ...{ address, filter: own, mipFilter, maxAnisotropy, border, normalizedFloat },
      normalized: (flags & flag.normalized) !== 0,
      sRGB: (flags & flag.sRGB) !== 0,
    });
    return bind(call, reference, texture);
  } catch (error) {
    if (error instanceof UsageError) throw new CudaError(errors.invalidValue, error.message);
    throw error;
  }
}

/** reference, module, name */
function find(call: Call): Status {
  const target = call.target(0);
  const { module } = call.process.modules.get(call.address(1));
  const name = call.host.string(call.target(2));
  const { process } = call;
  const variable = module.variable(name, errors.symbolNotFound);
  const known = [...process.references.values()].find((one) => one.variable?.address === variable.address);
  const reference = known ?? new ImageReference(variable);
  if (known === undefined) process.references.add(reference, reference.handle);
  call.set64(target, reference.handle);
  return 0;
}

function create(call: Call): Status {
  const reference = new ImageReference(null);
  call.set64(call.target(0), call.process.references.add(reference, reference.handle));
  return 0;
}

function destroy(call: Call): Status {
  const reference = referenceAt(call, 0);
  if (reference.bound !== null) call.process.machine.memory.images.remove(reference.bound);
  call.process.references.remove(reference.handle);
  return 0;
}

function bindImage(call: Call, reference: ImageReference, image: Image, resource: ImageReference["resource"]): Status {
  reference.image = image;
  reference.resource = resource;
  return rebind(call, reference);
}

/** reference, array, flags */
function setArray(call: Call): Status {
  const [reference, array] = [referenceAt(call, 0), arrayAt(call, call.address(1))];
  reference.array = call.address(1);
  reference.format = array.format;
  return bindImage(call, reference, array.image, "array");
}

const plain = { depth: 0, layers: null, cube: false, levels: 1, samples: 1 } as const;

/** byte offset, reference, address, bytes */
function setAddress(call: Call): Status {
  const reference = referenceAt(call, 1);
  const format = texelsOf(reference.format ?? fail(errors.invalidValue));
  const shape = { ...plain, layout: "linear", format, height: 0, pitch: 0 } as const;
  const width = Math.floor(call.size(3) / layImage({ ...shape, width: 1 }, 0).texelBytes);
  if (call.address(0) !== 0n) call.set64(call.address(0), 0);
  reference.memory = call.address(2);
  return bindImage(call, reference, imageAt(call, call.address(2), { ...shape, width }), "linear");
}

/** reference, CUDA_ARRAY_DESCRIPTOR, address, pitch */
function setPitch(call: Call): Status {
  const reference = referenceAt(call, 0);
  const view = call.host.view(call.target(1), 24);
  reference.format = formatIn(view, 16);
  const format = texelsOf(reference.format);
  const [width, height, pitch] = [sizeAt(view, 0), sizeAt(view, 8), call.size(3)];
  reference.memory = call.address(2);
  const image = imageAt(call, call.address(2), { ...plain, layout: "pitch", format, width, height, pitch });
  return bindImage(call, reference, image, "pitch");
}

/** reference, format, channels */
function setFormat(call: Call): Status {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, call.uint(1), true);
  view.setUint32(4, call.uint(2), true);
  referenceAt(call, 0).format = formatIn(view, 0);
  return 0;
}

/** A call that sets something of the reference that is its first argument. */
const setting =
  (set: (reference: ImageReference, call: Call) => void): Handler =>
  (call) => {
    const reference = referenceAt(call, 0);
    set(reference, call);
    return rebind(call, reference);
  };

/** A call that writes something of a reference, its second argument, to where the first one says. */
const getting =
  (get: (reference: ImageReference, call: Call) => number): Handler =>
  (call) => {
    call.set32(call.target(0), get(referenceAt(call, 1), call));
    return 0;
  };

const filters = ["point", "linear"] as const;
const filterIn = (call: Call) => filters[call.uint(1)] ?? fail(errors.invalidValue);

/** reference, axis, mode */
function setAddressMode(reference: ImageReference, call: Call): void {
  require(call.uint(1) < 3);
  reference.address[call.uint(1)] = addressModes[call.uint(2)] ?? fail(errors.invalidValue);
}

/** format, channels, reference */
function getFormat(call: Call): Status {
  const [format, channels] = formatWords(referenceAt(call, 2).format ?? fail(errors.invalidValue));
  call.set32(call.target(0), format);
  call.set32(call.target(1), channels);
  return 0;
}

function getArray(call: Call): Status {
  const { array } = referenceAt(call, 1);
  call.set64(call.target(0), array ?? fail(errors.invalidValue));
  return 0;
}

/** reference, array, flags */
function setSurface(call: Call): Status {
  const reference = referenceAt(call, 0);
  reference.array = call.address(1);
  return bind(call, reference, { kind: "surface", image: arrayAt(call, call.address(1)).image });
}

export const textureReferenceCalls: Handlers = {
  cuModuleGetTexRef: inContext(find),
  cuModuleGetSurfRef: inContext(find),
  cuTexRefCreate: inContext(create),
  cuTexRefDestroy: inContext(destroy),
  cuTexRefSetArray: inContext(setArray),
  cuTexRefSetMipmappedArray: inContext(setArray),
  cuTexRefSetAddress_v2: inContext(setAddress),
  cuTexRefSetAddress2D_v3: inContext(setPitch),
  cuTexRefSetFormat: inContext(setFormat),
  cuTexRefSetAddressMode: inContext(setting(setAddressMode)),
  cuTexRefSetFilterMode: inContext(setting((one, call) => (one.filter = filterIn(call)))),
  cuTexRefSetMipmapFilterMode: inContext(setting((one, call) => (one.mipFilter = filterIn(call)))),
  cuTexRefSetMaxAnisotropy: inContext(setting((one, call) => (one.maxAnisotropy = Math.max(1, call.uint(1))))),
  cuTexRefSetFlags: inContext(setting((one, call) => (one.flags = call.uint(1)))),
  cuTexRefSetBorderColor: inContext(
    setting((one, call) => {
      const view = call.host.view(call.target(1), 16);
      one.border = [0, 4, 8, 12].map((at) => view.getFloat32(at, true));
    }),
  ),
  cuTexRefGetArray: inContext(getArray),
  cuTexRefGetMipmappedArray: inContext(getArray),
  cuTexRefGetFormat: inContext(getFormat),
  cuTexRefGetFlags: inContext(getting(({ flags }) => flags)),
  cuTexRefGetFilterMode: inContext(getting(({ filter }) => filters.indexOf(filter))),
  cuTexRefGetMipmapFilterMode: inContext(getting(({ mipFilter }) => filters.indexOf(mipFilter))),
  cuTexRefGetMaxAnisotropy: inContext(getting(({ maxAnisotropy }) => maxAnisotropy)),
  /** mode, reference, axis */
  cuTexRefGetAddressMode: inContext(
    getting(({ address }, call) => addressModes.indexOf(address[call.uint(2)] ?? fail(errors.invalidValue))),
  ),
  cuTexRefGetAddress_v2: inContext((call) => {
    call.set64(call.target(0), referenceAt(call, 1).memory ?? fail(errors.invalidValue));
    return 0;
  }),
  cuSurfRefSetArray: inContext(setSurface),
  cuSurfRefGetArray: inContext(getArray),
};
