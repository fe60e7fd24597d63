import { require } from "../../base/errors.ts";
import { addressOf } from "../../state/allocations.ts";
import type { Fill } from "../../run/regions.ts";
import type { Stream } from "../../work/stream.ts";
import type { Call, Handler, Handlers, Status } from "../call.ts";
import { allocate, copy, fill, memoryCalls, release } from "../memory.ts";
import { streamCalls } from "../streams.ts";
import { inContext, inContextAs } from "./state.ts";

const runtime = (name: string): Handler => memoryCalls[name] ?? streamCalls[name]!;

/** A copy of bytes: destination, source, size and, where it is asynchronous, a stream. */
const copies = (name: string, kind: number): Handlers => {
  const run = (call: Call, stream?: Stream): Status => {
    const ends = { to: call.address(0), from: call.address(1), bytes: call.size(2), kind };
    return copy(call, ends, stream, stream !== undefined);
  };
  return {
    [name]: inContext((call) => run(call)),
    [name.replace(/(_v2)?$/, "Async$1")]: inContext((call) => run(call, call.stream(3))),
  };
};

/** Fills of elements of 1, 2 or 4 bytes, in a row or in several. */
function fills(bits: 8 | 16 | 32): Handlers {
  const elementBytes = bits / 8;
  const row = (call: Call): Fill => {
    const width = call.size(2) * elementBytes;
    require(call.address(0) % BigInt(elementBytes) === 0n);
    const region = { address: call.address(0), pitch: width, rows: 1 };
    return { region, extent: { width, height: 1, depth: 1 }, value: call.uint(1), elementBytes };
  };
  const rows = (call: Call): Fill => {
    const [pitch, width, height] = [call.size(1), call.size(3) * elementBytes, call.size(4)];
    const region = { address: call.address(0), pitch, rows: height };
    return { region, extent: { width, height, depth: 1 }, value: call.uint(2), elementBytes };
  };
  return {
    [`cuMemsetD${bits}_v2`]: inContext((call) => fill(call, row(call))),
    [`cuMemsetD${bits}Async`]: inContext((call) => fill(call, row(call), call.stream(3))),
    [`cuMemsetD2D${bits}_v2`]: inContext((call) => fill(call, rows(call))),
    [`cuMemsetD2D${bits}Async`]: inContext((call) => fill(call, rows(call), call.stream(5))),
  };
}

export const driverMemoryCalls: Handlers = {
  ...copies("cuMemcpy", 4),
  ...copies("cuMemcpyHtoD_v2", 1),
  ...copies("cuMemcpyDtoH_v2", 2),
  ...copies("cuMemcpyDtoD_v2", 3),
  ...fills(8),
  ...fills(16),
  ...fills(32),
  cuMemAlloc_v2: inContext((call) => {
    const target = call.target(0);
    require(call.size(1) > 0);
    call.set64(target, allocate(call, "device", call.size(1)));
    return 0;
  }),
  /** pointer, pitch, width, height, bytes of an element */
  cuMemAllocPitch_v2: inContext((call) => {
    require(call.size(2) > 0 && call.size(3) > 0 && [4, 8, 16].includes(call.uint(4)));
    return runtime("cudaMallocPitch")(call);
  }),
  cuMemFree_v2: inContext((call) => {
    require(call.address(0) !== 0n);
    return release(call, call.address(0), ["device", "managed"]);
  }),
  cuMemAllocHost_v2: inContext(runtime("cudaMallocHost")),
  cuMemHostAlloc: inContext(runtime("cudaHostAlloc")),
  cuMemFreeHost: inContext(runtime("cudaFreeHost")),
  cuMemAllocManaged: inContext(runtime("cudaMallocManaged")),
  cuMemHostRegister_v2: inContext(runtime("cudaHostRegister")),
  cuMemHostUnregister: inContext(runtime("cudaHostUnregister")),
  cuMemHostGetDevicePointer_v2: inContext(runtime("cudaHostGetDevicePointer")),
  /** flags, pointer */
  cuMemHostGetFlags: inContext(runtime("cudaHostGetFlags")),
  cuMemGetInfo_v2: inContext(runtime("cudaMemGetInfo")),
  /** base, size, pointer */
  cuMemGetAddressRange_v2: inContext((call) => {
    const found = call.process.allocations.find(call.address(2));
    if (found === null) return 500;
    if (call.address(0) !== 0n) call.set64(call.address(0), addressOf(found.offset));
    if (call.address(1) !== 0n) call.set64(call.address(1), found.bytes);
    return 0;
  }),
  cuPointerGetAttribute: inContext(pointerAttribute),
  cuStreamCreate: inContext(runtime("cudaStreamCreateWithFlags")),
  cuStreamCreateWithPriority: inContext(runtime("cudaStreamCreateWithPriority")),
  cuStreamDestroy_v2: inContext(runtime("cudaStreamDestroy")),
  cuStreamSynchronize: inContext(runtime("cudaStreamSynchronize")),
  cuStreamQuery: inContext(runtime("cudaStreamQuery")),
  cuStreamWaitEvent: inContext(runtime("cudaStreamWaitEvent")),
  cuStreamGetFlags: inContext(runtime("cudaStreamGetFlags")),
  cuStreamGetPriority: inContext(runtime("cudaStreamGetPriority")),
  cuStreamGetId: inContext(runtime("cudaStreamGetId")),
  cuStreamAddCallback: inContext(runtime("cudaStreamAddCallback")),
  cuStreamAttachMemAsync: inContext(runtime("cudaStreamAttachMemAsync")),
  cuLaunchHostFunc: inContext(runtime("cudaLaunchHostFunc")),
  cuCtxGetStreamPriorityRange: inContext(runtime("cudaDeviceGetStreamPriorityRange")),
  cuEventCreate: inContext(runtime("cudaEventCreateWithFlags")),
  cuEventDestroy_v2: inContext(runtime("cudaEventDestroy")),
  cuEventRecord: inContext(runtime("cudaEventRecord")),
  cuEventRecordWithFlags: inContext(runtime("cudaEventRecordWithFlags")),
  cuEventSynchronize: inContext(runtime("cudaEventSynchronize")),
  cuEventQuery: inContext(runtime("cudaEventQuery")),
  cuEventElapsedTime: inContext(runtime("cudaEventElapsedTime")),
  cuEventElapsedTime_v2: inContext(runtime("cudaEventElapsedTime")),
  /** dst, context, src, context, bytes, stream */
  cuMemcpyPeer: inContextAs(runtime("cudaMemcpy"), (call) => [call.address(0), call.address(2), call.address(4), 3]),
};

/** Attributes of a pointer, by number: context, memory type, device pointer, host pointer, ..., managed, ordinal. */
function pointerAttribute(call: Call): Status {
  const target = call.target(0);
  const pointer = call.address(2);
  const found = call.process.allocations.find(pointer) ?? call.process.allocations.registeredAround(pointer);
  require(found !== null);
  const inside =
    found.host !== null && pointer >= found.host ? pointer - found.host : pointer - addressOf(found.offset);
  const values: Readonly<Record<number, () => void>> = {
    2: () => call.set32(target, found.kind === "pinned" || found.kind === "registered" ? 1 : 2),
    3: () => call.set64(target, addressOf(found.offset) + inside),
    4: () => call.set64(target, found.host === null ? 0n : found.host + inside),
    8: () => call.poke(target, Uint8Array.of(found.kind === "managed" ? 1 : 0)),
    9: () => call.set32(target, found.device),
    11: () => call.set64(target, addressOf(found.offset)),
    12: () => call.set64(target, found.bytes),
    13: () => call.poke(target, Uint8Array.of(1)),
  };
  const write = values[call.int(1)];
  require(write !== undefined);
  write();
  return 0;
}
