import { readFatBinaries } from "../../../container/index.ts";
import { decodeText } from "../../../source/index.ts";
import { CudaError, errors, fail, require } from "../../base/errors.ts";

import { type DeviceModule, fitOf, imageFor } from "../../state/device-module.ts";
import { capabilityOf, type Gpu } from "../../state/gpu.ts";
import { LinkState, LoadedModule } from "../../state/loaded-module.ts";
import { readFatBinary } from "../../state/registry.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import { kernelOf } from "../launch.ts";
import { inContext, initialized } from "./driver-call.ts";

/**
 * The first words of what a module can be made of: an ELF file, a fat binary, what points to one, and what was linked.
 */
const magic = { elf: 0x464c_457f, fatBinary: 0xba55_ed50, wrapper: 0x4662_43b1, linked: 0x4b4e_4c4c } as const;

/** The texts of PTX at an address: of a fat binary the one that fits the device. */
function textsAt(call: Call, address: bigint): readonly string[] {
  const { host, process } = call;
  const first = host.u32(address);
  if (first === magic.linked) return linkedTexts(call, address);
  if (first === magic.wrapper) return textsAt(call, host.u64(address + 8n));
  if (first === magic.fatBinary) {
    const images = readFatBinary(host, address).flatMap((one) => one.images);
    const best = imageFor(images, process.gpu);
    return [decodeText(best.read())];
  }
  if (first === magic.elf) {
    throw new CudaError(
      errors.noKernelImageForDevice,
      "a module is machine code without PTX, which cannot be executed",
    );
  }
  return [requirePtx(host.string(address))];
}

/** A text. Throws if it is none of PTX: that begins with its version, behind nothing but comments. */
function requirePtx(text: string): string {
  const isPtx = /^(?:\s|\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/)*\.version\b/.test(text);
  return isPtx ? text : fail(errors.invalidKernelImage);
}

/** What was linked: a word, the number of texts, and each with its size before it. */
function linkedTexts({ host }: Call, address: bigint): readonly string[] {
  let at = address + 8n;
  return Array.from({ length: host.u32(address + 4n) }, () => {
    const bytes = host.u32(at);
    const text = new TextDecoder().decode(host.read(at + 4n, bytes));
    at += BigInt(4 + bytes);
    return text;
  });
}

function linkedImage(texts: readonly string[]): Uint8Array {
  const parts = texts.map((text) => new TextEncoder().encode(text));
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + 4 + length, 8));
  const view = new DataView(out.buffer);
  view.setUint32(0, magic.linked, true);
  view.setUint32(4, parts.length, true);
  let at = 8;
  for (const part of parts) {
    view.setUint32(at, part.length, true);
    out.set(part, at + 4);
    at += 4 + part.length;
  }
  return out;
}

/** Options of loading and linking, by number, that name room for messages, and its size. */
const option = { infoLog: 3, infoBytes: 4, errorLog: 5, errorBytes: 6 } as const;

/** Options in a list of the program: where the value of each is. */
function optionsAt(call: Call, count: number, ids: bigint, values: bigint): ReadonlyMap<number, bigint> {
  return new Map(Array.from({ length: count }, (_, i) => [call.host.u32(ids + BigInt(4 * i)), values + BigInt(8 * i)]));
}

/** Writes what is wrong ("" if nothing is) into the log of errors, if the options name one; the other stays empty. */
function log(call: Call, options: ReadonlyMap<number, bigint>, wrong: string): void {
  const at = (i: number): bigint | undefined => options.get(i);
  write(call, [at(option.infoLog), at(option.infoBytes)], "");
  write(call, [at(option.errorLog), at(option.errorBytes)], wrong);
}

/** Writes a text into a room, and over the size of the room how much of it is filled. */
function write(call: Call, [room, bytes]: readonly (bigint | undefined)[], text: string): void {
  if (room === undefined || bytes === undefined) return;
  const size = call.host.u32(bytes);
  if (size === 0) return;
  const data = new TextEncoder().encode(text).subarray(0, size - 1);
  call.poke(call.host.u64(room), Uint8Array.of(...data, 0));
  call.set32(bytes, data.length);
}

/** The newest version of PTX that the driver of CUDA 13.0 takes. */
const newestPtx = { major: 9, minor: 0 } as const;

/** Throws if a text that a program hands to the driver is of a version that was not there when that was made. */
function requireKnownVersion(text: string): void {
  const [, major = 0, minor = 0] = (/^[ \t]*\.version[ \t]+(\d+)\.(\d+)/m.exec(text) ?? []).map(Number);
  if (major < newestPtx.major || (major === newestPtx.major && minor <= newestPtx.minor)) return;
  const own = `${newestPtx.major}.${newestPtx.minor}`;
  const why = `PTX of version ${major}.${minor} is newer than the driver's, which is ${own}`;
  throw new CudaError(errors.unsupportedPtxVersion, why);
}

/** Throws if a text is for an architecture that the card is not compatible with. */
function requireKnownTarget(text: string, gpu: Gpu): void {
  const target = /^[ \t]*\.target[ \t]+(sm_\w+)/m.exec(text)?.[1];
  if (target === undefined || fitOf(target, gpu) >= 0) return;
  throw new CudaError(errors.invalidPtx, `PTX for ${target} does not run on ${gpu.name} (sm_${capabilityOf(gpu)})`);
}

function requireFit(call: Call, texts: readonly string[]): void {
  texts.forEach(requireKnownVersion);
  for (const text of texts) requireKnownTarget(text, call.process.gpu);
}

function load(call: Call, texts: readonly string[]): DeviceModule {
  requireFit(call, texts);
  return call.device.loadText(texts);
}

/** The answer to texts that cannot be loaded: what is wrong with them is written where the options want it. */
function refused(call: Call, options: ReadonlyMap<number, bigint>, error: unknown): number {
  if (!(error instanceof CudaError)) throw error;
  log(call, options, error.reason ?? "");
  return error.code;
}

/** Loads a module, and gives the program its handle. A failure is answered, so that the messages are written. */
function give(call: Call, read: () => readonly string[], options: ReadonlyMap<number, bigint> = new Map()): Status {
  const target = call.target(0);
  try {
    const made = new LoadedModule(load(call, read()), call.device.number);
    call.set64(target, call.process.modules.add(made, made.handle));
    log(call, options, "");
    return 0;
  } catch (error) {
    return refused(call, options, error);
  }
}

/** The file at a path that argument `i` names. */
function fileAt(call: Call, i: number): Uint8Array {
  const path = call.host.string(call.target(i));
  return call.process.readFile(path) ?? fail(errors.fileNotFound);
}

/** The texts of a file: PTX, or whatever holds some. */
function textsIn(call: Call, bytes: Uint8Array): readonly string[] {
  const first = bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (first !== magic.elf && first !== magic.fatBinary && first !== 0x7263_213c) return [requirePtx(decodeText(bytes))];
  const images = readFatBinaries(bytes, "the module").found.flatMap((one) => one.images);
  return [decodeText(imageFor(images, call.process.gpu).read())];
}

const moduleAt = (call: Call, i: number): LoadedModule => call.process.modules.get(call.address(i));

function unload(call: Call): Status {
  const loaded = moduleAt(call, 0);
  call.process.modules.remove(loaded.handle);
  call.process.device(loaded.device).free(loaded.module);
  return 0;
}

/** function, module, name */
function getFunction(call: Call): Status {
  const target = call.target(0);
  const kernel = moduleAt(call, 1).module.kernel(call.host.string(call.target(2)), errors.symbolNotFound);
  call.set64(target, call.process.kernelHandle(kernel));
  return 0;
}

/** address, size, module, name: either of the first two may be null */
function getGlobal(call: Call): Status {
  const { module, device } = moduleAt(call, 2);
  const name = call.host.string(call.target(3));
  const variable = module.variable(name, errors.symbolNotFound);
  if (call.address(0) !== 0n) call.set64(call.address(0), call.process.device(device).addressOf(module, name));
  if (call.address(1) !== 0n) call.set64(call.address(1), variable.byteLength);
  return 0;
}

/** The same for a managed variable. Throws if it is none. */
function getManaged(call: Call): Status {
  const name = call.host.string(call.target(3));
  const { variables } = moduleAt(call, 2).module.module.ir;
  require(variables.some((variable) => variable.name === name && variable.managed), errors.symbolNotFound);
  return getGlobal(call);
}

function countKernels(call: Call): Status {
  call.set32(call.target(0), moduleAt(call, 1).module.module.kernels.length);
  return 0;
}

/** address, module, name: no device has functions whose addresses the host shares */
function getUnifiedFunction(call: Call): Status {
  call.target(0);
  moduleAt(call, 1);
  call.target(2);
  return errors.symbolNotFound;
}

/** list, room, module */
function listKernels(call: Call): Status {
  const target = call.target(0);
  const handles = moduleAt(call, 2)
    .kernels.slice(0, call.uint(1))
    .map((kernel) => call.process.kernelHandle(kernel));
  call.poke(target, new Uint8Array(BigUint64Array.from(handles).buffer));
  return 0;
}

function moduleOfKernel(call: Call): Status {
  const target = call.target(0);
  const { module } = kernelOf(call, call.address(1));
  const found = [...call.process.modules.values()].find((loaded) => loaded.module === module);
  call.set64(target, found?.handle ?? fail(errors.symbolNotFound));
  return 0;
}

/** Kinds of inputs of a link. */
const input = { cubin: 0, ptx: 1, last: 5 } as const;

function addInput(call: Call, read: () => readonly string[]): Status {
  const [link, kind] = [linkAt(call, 0), call.uint(1)];
  require(kind >= 0 && kind <= input.last);
  try {
    if (kind === input.cubin) throw new CudaError(errors.noKernelImageForDevice, "machine code cannot be linked");
    const texts = read();
    requireFit(call, texts);
    for (const text of texts) call.device.checkText(text);
    link.texts.push(...texts);
  } catch (error) {
    return refused(call, link.options, error);
  }
  return 0;
}

const linkAt = (call: Call, i: number): LinkState => call.process.links.get(call.address(i));

/** Checks that what was added fits together, and gives the program an image of it. */
function completeLink(call: Call): Status {
  const link = linkAt(call, 0);
  const [target, size] = [call.target(1), call.address(2)];
  try {
    call.device.free(call.device.loadText(link.texts));
  } catch (error) {
    return refused(call, link.options, error);
  }
  log(call, link.options, "");
  const image = linkedImage(link.texts);
  call.set64(target, call.kept(image));
  if (size !== 0n) call.set64(size, image.length);
  return 0;
}

/** library, code, options (ids, values, count) twice */
const loadLibrary = (call: Call): Status =>
  give(call, () => textsAt(call, call.target(1)), optionsAt(call, call.uint(4), call.address(2), call.address(3)));

const loadLibraryFile = (call: Call): Status => give(call, () => textsIn(call, fileAt(call, 1)));

const same: Handler = (call) => {
  const target = call.target(0);
  const kernel = kernelOf(call, call.address(1));
  call.set64(target, call.process.kernelHandle(kernel));
  return 0;
};

const createLink = inContext((call) => {
  const link = new LinkState(optionsAt(call, call.uint(0), call.address(1), call.address(2)));
  call.set64(call.target(3), call.process.links.add(link, link.handle));
  return 0;
});

const addData = inContext((call) => {
  const [address, size] = [call.target(2), call.size(3)];
  return addInput(call, () => {
    const bytes = call.host.read(address, size);
    const end = call.uint(1) === input.ptx ? bytes.indexOf(0) : -1;
    return textsIn(call, end < 0 ? bytes : bytes.subarray(0, end));
  });
});

const addFile = inContext((call) => addInput(call, () => textsIn(call, fileAt(call, 2))));

export const moduleCalls: Handlers = {
  cuModuleLoad: inContext(loadLibraryFile),
  cuModuleLoadData: inContext((call) => give(call, () => textsAt(call, call.target(1)))),
  cuModuleLoadFatBinary: inContext((call) => give(call, () => textsAt(call, call.target(1)))),
  /** module, image, count, ids, values */
  cuModuleLoadDataEx: inContext((call) => {
    const options = optionsAt(call, call.uint(2), call.address(3), call.address(4));
    return give(call, () => textsAt(call, call.target(1)), options);
  }),
  cuModuleUnload: inContext(unload),
  cuModuleGetFunction: inContext(getFunction),
  cuModuleGetGlobal_v2: inContext(getGlobal),
  cuModuleGetFunctionCount: inContext(countKernels),
  cuModuleEnumerateFunctions: inContext(listKernels),
  cuModuleGetLoadingMode: initialized((call) => {
    call.set32(call.target(0), 2);
    return 0;
  }),
  cuFuncGetModule: inContext(moduleOfKernel),
  cuLibraryLoadData: initialized(loadLibrary),
  cuLibraryLoadFromFile: initialized(loadLibraryFile),
  cuLibraryUnload: initialized(unload),
  cuLibraryGetKernel: initialized(getFunction),
  cuLibraryGetModule: initialized((call) => {
    call.set64(call.target(0), moduleAt(call, 1).handle);
    return 0;
  }),
  cuLibraryGetGlobal: initialized(getGlobal),
  cuLibraryGetManaged: initialized(getManaged),
  cuLibraryGetUnifiedFunction: initialized(getUnifiedFunction),
  cuLibraryGetKernelCount: initialized(countKernels),
  cuLibraryEnumerateKernels: initialized(listKernels),
  cuKernelGetLibrary: initialized(moduleOfKernel),
  cuKernelGetFunction: initialized(same),
  /** count, ids, values, state */
  cuLinkCreate: createLink,
  cuLinkCreate_v2: createLink,
  /** state, kind, data, size, name, options */
  cuLinkAddData: addData,
  cuLinkAddData_v2: addData,
  /** state, kind, path, options */
  cuLinkAddFile: addFile,
  cuLinkAddFile_v2: addFile,
  cuLinkComplete: inContext(completeLink),
  cuLinkDestroy: inContext((call) => {
    require(call.process.links.remove(call.address(0)), errors.invalidResourceHandle);
    return 0;
  }),
  cudaLibraryLoadData: loadLibrary,
  cudaLibraryLoadFromFile: loadLibraryFile,
  cudaLibraryUnload: unload,
  cudaLibraryGetKernel: getFunction,
  cudaLibraryGetGlobal: getGlobal,
  cudaLibraryGetManaged: getManaged,
  cudaLibraryGetUnifiedFunction: getUnifiedFunction,
  cudaLibraryGetKernelCount: countKernels,
  cudaLibraryEnumerateKernels: listKernels,
  cudaGetFuncBySymbol: same,
  cudaGetKernel: same,
};
