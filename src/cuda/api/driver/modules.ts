import type { Image } from "../../../container/index.ts";
import { linkToText } from "../../../runtime/device/compile.ts";
import { renderDiagnostic, SourceText } from "../../../source/index.ts";
import { CudaError, errors, fail, require } from "../../base/errors.ts";
import { registersOf, type Sizes } from "../../run/kernel-launch.ts";
import type { DeviceKernel } from "../../state/device-module.ts";
import { readFatBinary, RegisteredBinary } from "../../state/registry.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import { gather, kernelOf, launch, launchCalls } from "../launch.ts";
import { occupancyCalls } from "../occupancy.ts";
import { driverOf, inContext, type LoadedModule } from "./state.ts";

const fatBinaryMagic = 0xba55_ed50;
const wrapperMagic = 0x4662_43b1;
const elfMagic = 0x464c_457f;

/** Functions that the machine provides; others that a text declares and nobody defines make it no program. */
const provided = new Set(["vprintf", "malloc", "free", "__assertfail"]);

function requireDefined(text: string): void {
  const declared = [...text.matchAll(/^\s*\.extern\s+\.func\s*(?:\([^)]*\)\s*)?([\w$]+)/gm)].map(([, name]) => name!);
  const missing = declared.find((name) => !provided.has(name) && !name.startsWith("__cuda"));
  if (missing !== undefined) throw new CudaError(errors.invalidPtx, `\`${missing}\` is not defined`);
}

/** Loads what lies at an address: PTX, a fat binary, or what nvcc puts around one. */
function load(call: Call, image: bigint): LoadedModule {
  const { device } = call;
  require(image !== 0n);
  const magic = call.host.u32(image);
  const made = (files: readonly (readonly Image[])[]): LoadedModule => ({
    device,
    module: device.load(files),
    functions: new Map(),
  });
  if (magic === fatBinaryMagic) return made([readFatBinary(call.host, image).flatMap(({ images }) => images)]);
  if (magic === wrapperMagic) return made(new RegisteredBinary(0n, image, call.host).files);
  if (magic === elfMagic) return fail(errors.noKernelImageForDevice);
  const text = call.host.string(image);
  if (!/^\s*\.version\b/m.test(text)) return fail(errors.invalidPtx);
  requireDefined(text);
  return { device, module: device.loadText([text]), functions: new Map() };
}

/** Options of the compiler by number: where its messages go, and how many bytes there are. */
const jitOption = { infoBuffer: 3, infoBytes: 4, errorBuffer: 5, errorBytes: 6 } as const;

/** Loads with options: count, their numbers, their values. What is wrong is written to the program's buffer. */
function loadWithLog(call: Call, count: number, numbers: bigint, values: bigint): LoadedModule {
  const options = new Map<number, bigint>();
  for (let i = 0; i < count; i++) {
    options.set(call.host.u32(numbers + BigInt(4 * i)), call.host.u64(values + BigInt(8 * i)));
  }
  const write = (buffer: number, bytes: number, text: string): void => {
    const [at, room] = [options.get(buffer) ?? 0n, Number(options.get(bytes) ?? 0n)];
    if (at === 0n || room === 0) return;
    call.poke(at, Uint8Array.of(...new TextEncoder().encode(text).subarray(0, room - 1), 0));
  };
  write(jitOption.infoBuffer, jitOption.infoBytes, "");
  try {
    return load(call, call.address(1));
  } catch (error) {
    if (error instanceof CudaError) write(jitOption.errorBuffer, jitOption.errorBytes, error.message);
    throw error;
  }
}

/** The handle of a kernel of a module. */
function functionOf(call: Call, loaded: LoadedModule, name: string): bigint {
  let known = loaded.functions.get(name);
  if (known === undefined) {
    known = call.process.kernels.add(loaded.module.kernel(name, errors.symbolNotFound));
    loaded.functions.set(name, known);
  }
  return known;
}

const moduleAt = (call: Call, i: number): LoadedModule => driverOf(call).modules.get(call.address(i));

function unload(call: Call): Status {
  const loaded = moduleAt(call, 0);
  driverOf(call).modules.remove(call.address(0));
  for (const handle of loaded.functions.values()) call.process.kernels.remove(handle);
  loaded.device.unloadModule(loaded.module);
  return 0;
}

/** pointer, size, module, name */
function global(call: Call): Status {
  const { module, device } = moduleAt(call, 2);
  const name = call.host.string(call.target(3));
  const variable = module.variable(name, errors.symbolNotFound);
  if (call.address(0) !== 0n) call.set64(call.address(0), device.addressOf(module, name));
  if (call.address(1) !== 0n) call.set64(call.address(1), variable.byteLength);
  return 0;
}

const loadData: Handler = (call) => {
  const target = call.target(0);
  call.set64(target, driverOf(call).modules.add(load(call, call.address(1))));
  return 0;
};

/** Links texts: the image is the text of all. */
function completeLink(call: Call): Status {
  const { texts } = driverOf(call).links.get(call.address(0));
  const { text, diagnostics } = linkToText(texts.map(({ name, text: one }) => new SourceText(name, one)));
  if (text === null) throw new CudaError(errors.invalidPtx, diagnostics.map((d) => renderDiagnostic(d)).join("\n"));
  const address = call.process.text(text);
  const bytes = new TextEncoder().encode(text).length + 1;
  call.protect(address, bytes, true);
  if (call.address(1) !== 0n) call.set64(call.address(1), address);
  if (call.address(2) !== 0n) call.set64(call.address(2), bytes);
  return 0;
}

/** The parameters of a launch: a list of addresses, or one packed buffer in `extra`. */
function parameters(call: Call, kernel: DeviceKernel, list: bigint, extra: bigint): Uint8Array {
  if (extra === 0n || list !== 0n) return gather(call, kernel, list);
  let buffer = 0n;
  let bytes = kernel.parameterBytes;
  for (let at = extra; ; at += 16n) {
    const [kind, value] = [call.host.u64(at), call.host.u64(at + 8n)];
    if (kind === 0n) break;
    if (kind === 1n) buffer = value;
    else if (kind === 2n) bytes = Number(call.host.u64(value));
    else return fail(errors.invalidValue);
  }
  const params = new Uint8Array(kernel.parameterBytes);
  params.set(call.host.read(buffer, Math.min(bytes, params.length)));
  return params;
}

const sizes = (call: Call, from: number): Sizes => [call.uint(from), call.uint(from + 1), call.uint(from + 2)];

/** function, grid, block, shared memory, stream, parameters, extra */
function launchKernel(call: Call, isCooperative: boolean): Status {
  const kernel = kernelOf(call, call.target(0));
  const spec = {
    kernel,
    grid: sizes(call, 1),
    block: sizes(call, 4),
    shared: call.uint(7),
    cluster: null,
    isCooperative,
    params: parameters(call, kernel, call.address(9), isCooperative ? 0n : call.address(10)),
  };
  return launch(call, spec, call.stream(8), call.address(0));
}

/** CUlaunchConfig, function, parameters, extra */
function launchEx(call: Call): Status {
  const config = call.host.view(call.target(0), 56);
  const kernel = kernelOf(call, call.target(1));
  const three = (view: DataView, at: number): Sizes =>
    [0, 4, 8].map((i) => view.getUint32(at + i, true)) as unknown as Sizes;
  let cluster: Sizes | null = null;
  let isCooperative = false;
  for (let i = 0; i < config.getUint32(48, true); i++) {
    const attribute = call.host.view(config.getBigUint64(40, true) + BigInt(72 * i), 72);
    if (attribute.getUint32(0, true) === 2) isCooperative = attribute.getUint32(8, true) !== 0;
    if (attribute.getUint32(0, true) === 4) cluster = three(attribute, 8);
  }
  const params = parameters(call, kernel, call.address(2), call.address(3));
  const shared = config.getUint32(24, true);
  const spec = { kernel, grid: three(config, 0), block: three(config, 12), shared, cluster, isCooperative, params };
  return launch(call, spec, call.streamOf(config.getBigUint64(32, true)), call.address(1));
}

/** Attributes of functions, by number. */
function functionAttribute(call: Call): Status {
  const target = call.target(0);
  const kernel = kernelOf(call, call.target(2));
  const { gpu } = call.process;
  const values = [
    kernel.maxThreads,
    kernel.staticShared,
    0,
    0,
    registersOf(kernel),
    kernel.module.architecture,
    10 * gpu.major + gpu.minor,
    0,
    kernel.maxDynamicShared,
    kernel.hints.get(9) ?? -1,
  ];
  const attribute = call.int(1);
  require(attribute >= 0 && attribute <= 15);
  call.set32(target, values[attribute] ?? kernel.hints.get(attribute) ?? 0);
  return 0;
}

const getFunction: Handler = (call) => {
  const target = call.target(0);
  call.set64(target, functionOf(call, moduleAt(call, 1), call.host.string(call.target(2))));
  return 0;
};

/** Copies a handle: a kernel of a library is its function, and a library its module. */
const same: Handler = (call) => {
  call.set64(call.target(0), call.address(1));
  return 0;
};

const countFunctions: Handler = (call) => {
  call.set32(call.target(0), moduleAt(call, 1).module.module.kernels.length);
  return 0;
};

/** Libraries of the runtime have the same arguments as those of the driver. */
const libraryCalls: Handlers = {
  LibraryLoadData: loadData,
  LibraryUnload: unload,
  LibraryGetKernel: getFunction,
  LibraryGetKernelCount: countFunctions,
  LibraryGetGlobal: global,
};

const prefixed = (prefix: string, wrap: (handler: Handler) => Handler): Handlers =>
  Object.fromEntries(Object.entries(libraryCalls).map(([name, handler]) => [`${prefix}${name}`, wrap(handler)]));

export const moduleCalls: Handlers = {
  ...prefixed("cu", inContext),
  ...prefixed("cuda", (handler) => handler),
  cuLibraryGetModule: inContext(same),
  cuKernelGetFunction: inContext(same),
  cuModuleLoadData: inContext(loadData),
  cuModuleLoadFatBinary: inContext(loadData),
  cuModuleLoadDataEx: inContext((call) => {
    const target = call.target(0);
    const loaded = loadWithLog(call, call.uint(2), call.address(3), call.address(4));
    call.set64(target, driverOf(call).modules.add(loaded));
    return 0;
  }),
  cuModuleUnload: inContext(unload),
  cuModuleGetFunction: inContext(getFunction),
  cuModuleGetFunctionCount: inContext(countFunctions),
  cuModuleGetGlobal_v2: inContext(global),
  cuModuleGetLoadingMode: inContext((call) => {
    call.set32(call.target(0), 2);
    return 0;
  }),
  cuLinkCreate_v2: inContext((call) => {
    call.set64(call.target(3), driverOf(call).links.add({ texts: [] }));
    return 0;
  }),
  /** link, kind, data, bytes, name, ... */
  cuLinkAddData_v2: inContext((call) => {
    const { texts } = driverOf(call).links.get(call.address(0));
    require(call.uint(1) === 1, errors.notSupported);
    const name = call.address(4) === 0n ? `text-${texts.length + 1}.ptx` : call.host.string(call.address(4));
    texts.push({ name, text: call.host.string(call.target(2)) });
    return 0;
  }),
  cuLinkComplete: inContext(completeLink),
  cuLinkDestroy: inContext((call) => {
    driverOf(call).links.get(call.address(0));
    driverOf(call).links.remove(call.address(0));
    return 0;
  }),
  cuLaunchKernel: inContext((call) => launchKernel(call, false)),
  cuLaunchCooperativeKernel: inContext((call) => launchKernel(call, true)),
  cuLaunchKernelEx: inContext(launchEx),
  cuFuncGetAttribute: inContext(functionAttribute),
  cuKernelGetAttribute: inContext(functionAttribute),
  cuFuncSetAttribute: inContext(launchCalls["cudaFuncSetAttribute"]!),
  cuFuncSetCacheConfig: inContext(launchCalls["cudaFuncSetCacheConfig"]!),
  cuFuncGetName: inContext(launchCalls["cudaFuncGetName"]!),
  cuKernelGetName: inContext(launchCalls["cudaFuncGetName"]!),
  cuFuncGetParamInfo: inContext(launchCalls["cudaFuncGetParamInfo"]!),
  cuKernelGetParamInfo: inContext(launchCalls["cudaFuncGetParamInfo"]!),
  cuOccupancyMaxActiveBlocksPerMultiprocessor: inContext(
    occupancyCalls["cudaOccupancyMaxActiveBlocksPerMultiprocessor"]!,
  ),
  cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: inContext(
    occupancyCalls["cudaOccupancyMaxActiveBlocksPerMultiprocessor"]!,
  ),
  cuOccupancyAvailableDynamicSMemPerBlock: inContext(occupancyCalls["cudaOccupancyAvailableDynamicSMemPerBlock"]!),
  cudaGetFuncBySymbol(call) {
    const target = call.target(0);
    kernelOf(call, call.address(1));
    call.set64(target, call.address(1));
    return 0;
  },
  cudaGetKernel(call) {
    const target = call.target(0);
    kernelOf(call, call.address(1));
    call.set64(target, call.address(1));
    return 0;
  },
};
