import type { DeviceLaunch } from "../../machine/state/device-work.ts";
import type { ExternalCall, ExternalFunction } from "../../machine/state/externals.ts";
import type { IrFunction } from "../../ir/index.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { parts } from "../../machine/memory/address-space.ts";
import { functionAt } from "../../program/call-targets.ts";
import { free, takeFromHeap } from "./device-heap.ts";
import { readBytes, writeBytes } from "./lane-memory.ts";
import type { deviceWorkNames } from "./provided-names.ts";

/** Errors of CUDA's runtime, as numbers. */
const status = { success: 0n, invalidValue: 1n, memoryAllocation: 2n, invalidConfiguration: 9n, notSupported: 801n };

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
  const { handOver } = call.x.warp.cta.grid;
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

/** Hands over what moves bytes of device memory, after the grid. */
function handOverCopy(call: ExternalCall, run: () => void): bigint {
  const { handOver } = call.x.warp.cta.grid;
  if (handOver === null) return status.notSupported;
  handOver({ kind: "copy", run });
  return status.success;
}

/** `cudaMemcpyAsync(void *to, const void *from, size_t bytes, kind, stream)` */
const copyAsync: ExternalFunction = (call) => {
  const [to = 0n, from = 0n, bytes = 0n] = call.args;
  return handOverCopy(call, () => writeBytes(call, to, readBytes(call, from, Number(bytes))));
};

/** `cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch, width, height, kind, stream)` */
const copy2DAsync: ExternalFunction = (call) => {
  const [to = 0n, toPitch = 0n, from = 0n, fromPitch = 0n, width = 0n, height = 0n] = call.args;
  return handOverCopy(call, () => {
    for (let y = 0n; y < height; y++) {
      writeBytes(call, to + y * toPitch, readBytes(call, from + y * fromPitch, Number(width)));
    }
  });
};

/** `cudaMemsetAsync(void *to, int value, size_t bytes, stream)` */
const fillAsync: ExternalFunction = (call) => {
  const [to = 0n, value = 0n, bytes = 0n] = call.args;
  return handOverCopy(call, () => writeBytes(call, to, new Uint8Array(Number(bytes)).fill(Number(value & 255n))));
};

/** `cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, stream)` */
const fill2DAsync: ExternalFunction = (call) => {
  const [to = 0n, pitch = 0n, value = 0n, width = 0n, height = 0n] = call.args;
  const row = new Uint8Array(Number(width)).fill(Number(value & 255n));
  return handOverCopy(call, () => {
    for (let y = 0n; y < height; y++) writeBytes(call, to + y * pitch, row);
  });
};

/** `cudaMalloc(void **pointer, size_t size)` */
const allocate: ExternalFunction = (call) => {
  const [target = 0n, size = 0n] = call.args;
  const address = takeFromHeap(call, size);
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

/** The address of a text that stays as long as the device. */
const noError: ExternalFunction = (call) => {
  const text = new TextEncoder().encode("no error\0");
  const address = takeFromHeap(call, BigInt(text.length));
  if (address !== 0n) writeBytes(call, address, text);
  return address;
};

/** `void cudaGraphSetConditional(handle, unsigned value)`: the handle is the address of the value. */
const setConditional: ExternalFunction = (call) => {
  writeBytes(call, call.args[0]!, words([Number(BigInt.asUintN(32, call.args[1]!))]));
  return 0n;
};

/** The functions by which kernels hand work to the device: CUDA's device runtime. */
export const deviceWorkFunctions: Readonly<Record<(typeof deviceWorkNames)[number], ExternalFunction>> = {
  cudaGetParameterBuffer: getParameterBuffer,
  cudaLaunchDevice: launchDevice,
  cudaGetParameterBufferV2: getParameterBufferV2,
  cudaLaunchDeviceV2: launchDeviceV2,
  cudaGraphSetConditional: setConditional,
  __cudaCDP2GetParameterBuffer: getParameterBuffer,
  __cudaCDP2LaunchDevice: launchDevice,
  __cudaCDP2LaunchDevice_ptsz: launchDevice,
  __cudaCDP2GetParameterBufferV2: getParameterBufferV2,
  __cudaCDP2LaunchDeviceV2: launchDeviceV2,
  __cudaCDP2LaunchDeviceV2_ptsz: launchDeviceV2,
  __cudaCDP2MemcpyAsync: copyAsync,
  __cudaCDP2MemcpyAsync_ptsz: copyAsync,
  __cudaCDP2Memcpy2DAsync: copy2DAsync,
  __cudaCDP2Memcpy2DAsync_ptsz: copy2DAsync,
  __cudaCDP2MemsetAsync: fillAsync,
  __cudaCDP2MemsetAsync_ptsz: fillAsync,
  __cudaCDP2Memset2DAsync: fill2DAsync,
  __cudaCDP2Memset2DAsync_ptsz: fill2DAsync,
  __cudaCDP2Malloc: allocate,
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
  __cudaCDP2GetLastError: succeed,
  __cudaCDP2PeekAtLastError: succeed,
  __cudaCDP2GetErrorString: noError,
  __cudaCDP2GetErrorName: noError,
  __cudaCDP2GetDevice: answering(0),
  __cudaCDP2GetDeviceCount: answering(1),
  __cudaCDP2RuntimeGetVersion: answering(13_000),
};
