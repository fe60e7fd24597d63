import type { DeviceFacts, DeviceLaunch } from "../../machine/state/device-work.ts";
import type { ExternalCall, ExternalFunction } from "../../machine/state/externals.ts";
import type { IrFunction } from "../../ir/index.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { parts } from "../../machine/memory/address-space.ts";
import { functionAt } from "../../program/call-targets.ts";
import { copy2DAsync, copy3DAsync, copyAsync, fill2DAsync, fill3DAsync, fillAsync } from "./device-copies.ts";
import { applyNodeUpdates, launchGraph, setNodeEnabled, setNodeGrid, setNodeParameter } from "./device-graphs.ts";
import { free, malloc, takeForGood, takeFromHeap } from "./device-heap.ts";
import { status } from "./device-status.ts";
import { readBytes, writeBytes } from "./lane-memory.ts";
import type { deviceWorkNames } from "./provided-names.ts";

/** The names of these errors. */
const names: Readonly<Record<number, string>> = {
  0: "cudaSuccess",
  1: "cudaErrorInvalidValue",
  2: "cudaErrorMemoryAllocation",
  9: "cudaErrorInvalidConfiguration",
  801: "cudaErrorNotSupported",
};

/** What CUDA says of them. */
const texts: Readonly<Record<number, string>> = {
  0: "no error",
  1: "invalid argument",
  2: "out of memory",
  9: "invalid configuration argument",
  801: "operation not supported",
};

/** The last error of each lane of the warps that have had one. */
const lastErrors = new WeakMap<object, bigint[]>();

/** Notes what a function returns, if it is an error, as the last one of the thread. */
function noted({ x: { warp }, lane }: ExternalCall, result: bigint): bigint {
  if (result === status.success) return result;
  let known = lastErrors.get(warp);
  if (known === undefined) lastErrors.set(warp, (known = []));
  known[lane] = result;
  return result;
}

const noting =
  (inner: ExternalFunction): ExternalFunction =>
  (call) =>
    noted(call, inner(call));

/** `cudaError_t cudaPeekAtLastError()` */
const peekError: ExternalFunction = ({ x: { warp }, lane }) => lastErrors.get(warp)?.[lane] ?? status.success;

/** `cudaError_t cudaGetLastError()` */
const lastError: ExternalFunction = (call) => {
  const found = peekError(call);
  if (found !== status.success) lastErrors.get(call.x.warp)![call.lane] = status.success;
  return found;
};

/** Streams that stand for an order of their own. */
const tailLaunch = 3n;

/** Bytes before a parameter buffer, in which the launch is noted until it is made. */
const headerBytes = 64;

/** The kernel at an address, or null. */
function kernelAt({ functions }: ExternalCall, address: bigint): IrFunction | null {
  const found = functionAt(functions, parts(address))?.ir;
  return found?.kind === "kernel" ? found : null;
}

const parameterBytesOf = ({ params }: IrFunction): number =>
  params.reduce(
    (end, { storage, type }) => (storage.kind === "kernel" ? Math.max(end, storage.offset + type.size) : end),
    0,
  );

const words = (values: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer);

const bytesOf64 = (value: bigint): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, value)).buffer);

/** A function of the kernel, its sizes, and how much dynamic shared memory it gets. */
interface Request {
  readonly function: bigint;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly sharedBytes: number;
}

/** Memory for the parameters of a launch, with the request before it where there is one. */
function parameterBuffer(call: ExternalCall, bytes: number, request: Request | null): bigint {
  const address = takeFromHeap(call, BigInt(headerBytes + bytes));
  if (address === 0n) return 0n;
  if (request !== null) {
    const { function: at, grid, block, sharedBytes } = request;
    const low = Number(BigInt.asUintN(32, at));
    writeBytes(call, address, words([low, Number(at >> 32n), ...grid, ...block, sharedBytes]));
  }
  return address + BigInt(headerBytes);
}

/** Hands a launch over whose parameters lie in a buffer, which is given back. */
function launch(call: ExternalCall, buffer: bigint, request: Request, stream: bigint): bigint {
  const { handOver } = call.x.warp.cta.grid.device;
  const kernel = kernelAt(call, request.function);
  if (kernel === null) return status.invalidValue;
  const { grid, block, sharedBytes } = request;
  const isValid = [...grid, ...block].every((n) => n >= 1) && block[0] * block[1] * block[2] <= 1024 && block[2] <= 64;
  const params = readBytes(call, buffer, parameterBytesOf(kernel));
  free({ ...call, args: [buffer - BigInt(headerBytes)] });
  if (!isValid) return status.invalidConfiguration;
  if (handOver === null) return status.notSupported;
  const work: DeviceLaunch = {
    ...{ kind: "launch", kernel: kernel.name, grid, block, sharedBytes, params, isTail: stream === tailLaunch },
  };
  handOver(work);
  return status.success;
}

const dim3At = (args: readonly bigint[], i: number): Dim3 => [
  Number(args[i]),
  Number(args[i + 1]),
  Number(args[i + 2]),
];

/** `void *cudaGetParameterBufferV2(void *function, dim3 grid, dim3 block, unsigned sharedBytes)`; null if it fails. */
const getParameterBufferV2: ExternalFunction = (call) => {
  const { args } = call;
  const kernel = kernelAt(call, args[0]!);
  if (kernel === null) return 0n;
  const request = { function: args[0]!, grid: dim3At(args, 1), block: dim3At(args, 4), sharedBytes: Number(args[7]) };
  return parameterBuffer(call, parameterBytesOf(kernel), request);
};

/** `cudaError_t cudaLaunchDeviceV2(void *parameterBuffer, cudaStream_t stream)` */
const launchDeviceV2: ExternalFunction = (call) => {
  const [buffer = 0n, stream = 0n] = call.args;
  if (buffer === 0n) return status.invalidValue;
  const noted = new Uint32Array(readBytes(call, buffer - BigInt(headerBytes), 36).buffer);
  const sizes = (i: number): Dim3 => [noted[i]!, noted[i + 1]!, noted[i + 2]!];
  const address = BigInt(noted[0]!) | (BigInt(noted[1]!) << 32n);
  return launch(call, buffer, { function: address, grid: sizes(2), block: sizes(5), sharedBytes: noted[8]! }, stream);
};

/** `void *cudaGetParameterBuffer(size_t alignment, size_t size)` */
const getParameterBuffer: ExternalFunction = (call) => parameterBuffer(call, Number(call.args[1]), null);

/** `cudaLaunchDevice(void *function, void *parameterBuffer, dim3 grid, dim3 block, unsigned sharedBytes, stream)` */
const launchDevice: ExternalFunction = (call) => {
  const { args } = call;
  const sizes = { grid: dim3At(args, 2), block: dim3At(args, 5), sharedBytes: Number(args[8]) };
  // A kernel without parameters needs no buffer.
  const buffer = args[1] === 0n ? parameterBuffer(call, 0, null) : args[1]!;
  return launch(call, buffer, { function: args[0]!, ...sizes }, args[9] ?? 0n);
};

/** `cudaMalloc(void **pointer, size_t size)` */
const allocate: ExternalFunction = (call) => {
  const [target = 0n, size = 0n] = call.args;
  const address = malloc({ ...call, args: [size] });
  writeBytes(call, target, bytesOf64(address));
  return address === 0n ? status.memoryAllocation : status.success;
};

/** A function that succeeds, as there is nothing to do. */
const succeed: ExternalFunction = () => status.success;

/** Writes a number of 32 bits where the first argument points. */
const answering =
  (value: number): ExternalFunction =>
  (call) => {
    writeBytes(call, call.args[0]!, words([value]));
    return status.success;
  };

/** Writes a handle of something that needs no state: work runs in the order in which it is handed over. */
const makeHandle: ExternalFunction = (call) => {
  writeBytes(call, call.args[0]!, bytesOf64(1n << 32n));
  return status.success;
};

/** The address of what a table has for an error: a text that stays as long as the device. */
const textFrom =
  (table: Readonly<Record<number, string>>, otherwise: string): ExternalFunction =>
  (call) => {
    const text = new TextEncoder().encode(`${table[Number(call.args[0])] ?? otherwise}\0`);
    const address = takeForGood(call, BigInt(text.length));
    if (address !== 0n) writeBytes(call, address, text);
    return address;
  };

/** Writes what a device answers where the first argument points. */
const asking =
  (ask: (facts: DeviceFacts, call: ExternalCall) => Uint8Array | null): ExternalFunction =>
  (call) => {
    const { facts } = call.x.warp.cta.grid.device;
    if (facts === null) return status.notSupported;
    const answer = ask(facts, call);
    if (answer === null) return status.invalidValue;
    writeBytes(call, call.args[0]!, answer);
    return status.success;
  };

const wordOf = (value: number | null): Uint8Array | null => (value === null ? null : words([value]));

/** `cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)` */
const deviceAttribute = asking((facts, { args }) => wordOf(facts.attribute(Number(args[1]))));

/** `cudaDeviceGetLimit(size_t *value, cudaLimit limit)` */
const deviceLimit = asking((facts, { args }) => {
  const limit = facts.limit(Number(args[1]));
  return limit === null ? null : bytesOf64(limit);
});

/** `cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function)` */
const functionAttributes = asking((facts, call) => {
  const kernel = kernelAt(call, call.args[1]!);
  return kernel === null ? null : facts.functionAttributes(kernel.name);
});

/** `cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t bytes)` */
const residentBlocks = asking((facts, call) => {
  const kernel = kernelAt(call, call.args[1]!);
  const threads = Number(BigInt.asIntN(32, call.args[2]!));
  if (kernel === null || threads <= 0) return null;
  return words([facts.residentBlocks(kernel.name, threads, Number(call.args[3]))]);
});

/** `void cudaGraphSetConditional(handle, unsigned value)`: the handle is the address of the value. */
const setConditional: ExternalFunction = (call) => {
  writeBytes(call, call.args[0]!, words([Number(BigInt.asUintN(32, call.args[1]!))]));
  return 0n;
};

/** The functions by which kernels hand work to the device: CUDA's device runtime. */
export const deviceWorkFunctions: Readonly<Record<(typeof deviceWorkNames)[number], ExternalFunction>> = {
  cudaGetParameterBuffer: getParameterBuffer,
  cudaLaunchDevice: noting(launchDevice),
  cudaGetParameterBufferV2: getParameterBufferV2,
  cudaLaunchDeviceV2: noting(launchDeviceV2),
  cudaGraphSetConditional: setConditional,
  cudaGraphLaunch: noting(launchGraph),
  cudaGraphKernelNodeSetParam: noting(setNodeParameter),
  cudaGraphKernelNodeSetEnabled: noting(setNodeEnabled),
  cudaGraphKernelNodeSetGridDim: noting(setNodeGrid),
  cudaGraphKernelNodeUpdatesApply: noting(applyNodeUpdates),
  __cudaCDP2GetParameterBuffer: getParameterBuffer,
  __cudaCDP2LaunchDevice: noting(launchDevice),
  __cudaCDP2LaunchDevice_ptsz: noting(launchDevice),
  __cudaCDP2GetParameterBufferV2: getParameterBufferV2,
  __cudaCDP2LaunchDeviceV2: noting(launchDeviceV2),
  __cudaCDP2LaunchDeviceV2_ptsz: noting(launchDeviceV2),
  __cudaCDP2MemcpyAsync: noting(copyAsync),
  __cudaCDP2MemcpyAsync_ptsz: noting(copyAsync),
  __cudaCDP2Memcpy2DAsync: noting(copy2DAsync),
  __cudaCDP2Memcpy2DAsync_ptsz: noting(copy2DAsync),
  __cudaCDP2Memcpy3DAsync: noting(copy3DAsync),
  __cudaCDP2Memcpy3DAsync_ptsz: noting(copy3DAsync),
  __cudaCDP2MemsetAsync: noting(fillAsync),
  __cudaCDP2MemsetAsync_ptsz: noting(fillAsync),
  __cudaCDP2Memset2DAsync: noting(fill2DAsync),
  __cudaCDP2Memset2DAsync_ptsz: noting(fill2DAsync),
  __cudaCDP2Memset3DAsync: noting(fill3DAsync),
  __cudaCDP2Memset3DAsync_ptsz: noting(fill3DAsync),
  __cudaCDP2Malloc: noting(allocate),
  __cudaCDP2Free: free,
  __cudaCDP2StreamCreateWithFlags: makeHandle,
  __cudaCDP2StreamDestroy: succeed,
  __cudaCDP2StreamWaitEvent: succeed,
  __cudaCDP2StreamWaitEvent_ptsz: succeed,
  __cudaCDP2EventCreateWithFlags: makeHandle,
  __cudaCDP2EventRecord: succeed,
  __cudaCDP2EventRecord_ptsz: succeed,
  __cudaCDP2EventRecordWithFlags: succeed,
  __cudaCDP2EventRecordWithFlags_ptsz: succeed,
  __cudaCDP2EventDestroy: succeed,
  __cudaCDP2GetLastError: lastError,
  __cudaCDP2PeekAtLastError: peekError,
  __cudaCDP2GetErrorString: textFrom(texts, "unrecognized error code"),
  __cudaCDP2GetErrorName: textFrom(names, "unrecognized error code"),
  __cudaCDP2GetDevice: answering(0),
  __cudaCDP2GetDeviceCount: answering(1),
  __cudaCDP2RuntimeGetVersion: answering(13_000),
  __cudaCDP2DeviceGetAttribute: noting(deviceAttribute),
  __cudaCDP2DeviceGetLimit: noting(deviceLimit),
  __cudaCDP2DeviceGetCacheConfig: answering(0),
  __cudaCDP2DeviceGetSharedMemConfig: answering(0),
  __cudaCDP2FuncGetAttributes: noting(functionAttributes),
  __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor: noting(residentBlocks),
  __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags: noting(residentBlocks),
};
