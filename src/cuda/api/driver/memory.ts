import { errors, fail, require } from "../../base/errors.ts";
import type { Extent, Region } from "../../run/regions.ts";
import { addressOf, offsetOf } from "../../base/addresses.ts";
import { MemoryPool } from "../../state/memory-pool.ts";
import { ReservedRange } from "../../state/virtual-memory.ts";
import type { Stream } from "../../work/stream.ts";
import { adviceCalls } from "../advice.ts";
import { batchCalls } from "../batches.ts";
import { Bytes, type Call, type Handler, type Handlers, type Status } from "../call.ts";
import { copy, fill, memoryCalls, memoryAround } from "../memory.ts";
import { poolCalls } from "../pools.ts";
import { arrayAt, arrayRegion, copyRegion, type RegionCopy, regionCalls } from "../regions.ts";
import { streamCalls } from "../streams.ts";
import { sameAs } from "./contexts.ts";
import { currentContext, inContext, initialized } from "./driver-call.ts";

const byAddress = 4;

/** What CU_POINTER_ATTRIBUTE_ACCESS_FLAGS says of memory that may be read and written. */
const readWrite = 3;

/** destination, source, bytes, and for an asynchronous copy a stream */
const line =
  (kind: number, isAsync: boolean): Handler =>
  (call) => {
    const ends = { to: call.address(0), from: call.address(1), bytes: call.size(2), kind };
    return copy(call, ends, isAsync ? call.stream(3) : call.defaultStream, isAsync);
  };

/** Kinds of memory at an end of a copy. */
export const memoryType = { host: 1, device: 2, array: 3, unified: 4 } as const;

/** An end of a copy of rows: where its fields are in the structure. */
interface EndFields {
  readonly position: number;
  readonly type: number;
  readonly host: number;
  readonly device: number;
  readonly pitch: number;
  readonly rows: number | null;
  readonly array: number;
}

const wordAt = (view: DataView, at: number): number => Number(view.getBigUint64(at, true));

/** `slice`: where the third coordinate is, or null. */
function endOf(call: Call, view: DataView, fields: EndFields, width: number): Region {
  const type = view.getUint32(fields.type, true);
  require(type >= memoryType.host && type <= memoryType.unified);
  const base = view.getBigUint64(type === memoryType.host ? fields.host : fields.device, true);
  const pitch = wordAt(view, fields.pitch) || width;
  const rows = fields.rows === null ? 1 : wordAt(view, fields.rows);
  const [x, y] = [wordAt(view, fields.position), wordAt(view, fields.position + 8)];
  const z = fields.rows === null ? 0 : wordAt(view, fields.position + 16);
  if (type === memoryType.array) {
    return arrayRegion(arrayAt(call, view.getBigUint64(fields.array, true)), x, y, z);
  }
  return { address: base + BigInt(x + pitch * (y + rows * z)), pitch, rows };
}

const ends2D = {
  from: { position: 0, type: 16, host: 24, device: 32, array: 40, pitch: 48, rows: null },
  to: { position: 56, type: 72, host: 80, device: 88, array: 96, pitch: 104, rows: null },
} as const;

const ends3D = {
  from: { position: 0, type: 32, host: 40, device: 48, array: 56, pitch: 72, rows: 80 },
  to: { position: 88, type: 120, host: 128, device: 136, array: 144, pitch: 160, rows: 168 },
} as const;

/** CUDA_MEMCPY2D, stream */
function copy2D(call: Call, isAsync: boolean): Status {
  const view = call.host.view(call.target(0), 128);
  const extent: Extent = { width: wordAt(view, 112), height: wordAt(view, 120), depth: 1 };
  const [to, from] = [endOf(call, view, ends2D.to, extent.width), endOf(call, view, ends2D.from, extent.width)];
  return copyRegion(call, { to, from, extent, kind: byAddress }, streamOf(call, isAsync, 1), isAsync);
}

/** Bytes of CUDA_MEMCPY3D. */
export const copyBytes3D = 200;

/** Reads a CUDA_MEMCPY3D. */
export function regionCopy3D(call: Call, view: DataView): RegionCopy {
  const extent: Extent = { width: wordAt(view, 176), height: wordAt(view, 184), depth: wordAt(view, 192) };
  const [to, from] = [endOf(call, view, ends3D.to, extent.width), endOf(call, view, ends3D.from, extent.width)];
  return { to, from, extent, kind: byAddress };
}

/** CUDA_MEMCPY3D, stream */
function copy3D(call: Call, isAsync: boolean): Status {
  const copy = regionCopy3D(call, call.host.view(call.target(0), copyBytes3D));
  return copyRegion(call, copy, streamOf(call, isAsync, 1), isAsync);
}

const streamOf = (call: Call, isAsync: boolean, i: number): Stream => (isAsync ? call.stream(i) : call.defaultStream);

/** address, value, elements, and perhaps a stream */
const set =
  (elementBytes: number, isAsync: boolean): Handler =>
  (call) => {
    const address = call.address(0);
    require(address % BigInt(elementBytes) === 0n);
    const width = call.size(2) * elementBytes;
    const region: Region = { address, pitch: width, rows: 1 };
    const what = { region, extent: { width, height: 1, depth: 1 }, value: call.uint(1), elementBytes };
    return fill(call, what, streamOf(call, isAsync, 3));
  };

/** address, pitch, value, elements in a row, rows, and perhaps a stream */
const set2D =
  (elementBytes: number, isAsync: boolean): Handler =>
  (call) => {
    const [address, pitch] = [call.address(0), call.size(1)];
    require(address % BigInt(elementBytes) === 0n && pitch % elementBytes === 0);
    const extent: Extent = { width: call.size(3) * elementBytes, height: call.size(4), depth: 1 };
    const region: Region = { address, pitch, rows: extent.height };
    return fill(call, { region, extent, value: call.uint(2), elementBytes }, streamOf(call, isAsync, 5));
  };

const fills: Handlers = Object.fromEntries(
  [1, 2, 4].flatMap((bytes): [string, Handler][] => [
    [`cuMemsetD${8 * bytes}_v2`, inContext(set(bytes, false))],
    [`cuMemsetD${8 * bytes}`, inContext(set(bytes, false))],
    [`cuMemsetD${8 * bytes}Async`, inContext(set(bytes, true))],
    [`cuMemsetD2D${8 * bytes}_v2`, inContext(set2D(bytes, false))],
    [`cuMemsetD2D${8 * bytes}`, inContext(set2D(bytes, false))],
    [`cuMemsetD2D${8 * bytes}Async`, inContext(set2D(bytes, true))],
  ]),
);

/** Attributes of an address by number: CUpointer_attribute. */
function pointerAttribute(call: Call, attribute: number, address: bigint): Uint8Array {
  const found = memoryAround(call, address);
  const word = (value: bigint | number): Uint8Array => new Bytes(8).u64(0, value).data;
  const half = (value: number): Uint8Array => new Bytes(4).u32(0, value).data;
  if (found === null) return fail(errors.invalidValue);
  const start = addressOf(found.offset);
  const isHost = found.kind === "pinned" || found.kind === "registered";
  const inside = offsetOf(address) === null ? address - found.host! : address - start;
  const mapping = found.owner instanceof ReservedRange ? found.owner.find(offsetOf(address)!) : null;
  const values: Readonly<Record<number, () => Uint8Array>> = {
    1: () => word(currentContext(call)?.handle ?? 0n),
    2: () => half(isHost ? memoryType.host : memoryType.device),
    3: () => word(start + inside),
    4: () => word(found.host === null ? fail(errors.invalidValue) : found.host + inside),
    6: () => half(call.process.synchronousMemory.has(found) ? 1 : 0),
    7: () => word(found.offset),
    8: () => half(found.kind === "managed" ? 1 : 0),
    9: () => half(Math.max(0, found.device)),
    10: () => half(0),
    11: () => word(start),
    12: () => word(found.bytes),
    13: () => half(1),
    14: () => word(0),
    15: () => half(0),
    16: () => half(readWrite),
    17: () => word(found.owner instanceof MemoryPool ? found.owner.handle : 0n),
    18: () => word(mapping?.bytes ?? found.bytes),
    19: () => word(mapping === null ? start : addressOf(mapping.at)),
    20: () => word(found.offset),
    21: () => half(0),
  };
  return (values[attribute] ?? (() => fail(errors.invalidValue)))();
}

/** count, attributes, places, address: what an address does not have is 0 */
function pointerAttributes(call: Call): Status {
  for (let i = 0; i < call.uint(0); i++) {
    const attribute = call.host.u32(call.target(1) + BigInt(4 * i));
    const place = call.host.u64(call.target(2) + BigInt(8 * i));
    call.poke(place, attributeOrZero(call, attribute, call.address(3)));
  }
  return 0;
}

/** The only attribute that can be set: whether what is synchronous is always so, which it is here anyway. */
const syncMemoryOperations = 6;

/** value, attribute, address */
function setPointerAttribute(call: Call): Status {
  const isSet = call.host.u32(call.target(0)) !== 0;
  require(call.int(1) === syncMemoryOperations);
  const found = memoryAround(call, call.address(2)) ?? fail(errors.invalidValue);
  if (isSet) call.process.synchronousMemory.add(found);
  else call.process.synchronousMemory.delete(found);
  return 0;
}

const wide = new Set([1, 3, 4, 7, 11, 12, 14, 17, 18, 19, 20]);

function attributeOrZero(call: Call, attribute: number, address: bigint): Uint8Array {
  const isKnown = memoryAround(call, address) !== null;
  return isKnown ? pointerAttribute(call, attribute, address) : new Uint8Array(wide.has(attribute) ? 8 : 4);
}

/** base, size, address: either of the first two may be null */
function addressRange(call: Call): Status {
  const found = memoryAround(call, call.address(2)) ?? fail(errors.symbolNotFound);
  if (call.address(0) !== 0n) call.set64(call.address(0), addressOf(found.offset));
  if (call.address(1) !== 0n) call.set64(call.address(1), found.bytes);
  return 0;
}

/** An allocation of nothing, which the runtime allows, is an error here. */
const some = (handler: Handler): Handler =>
  inContext((call) => {
    require(call.size(1) > 0);
    return handler(call);
  });

const runtime = (name: string): Handler =>
  inContext(sameAs({ ...adviceCalls, ...batchCalls, ...memoryCalls, ...poolCalls, ...regionCalls }, name));

/** address, pitch, width, height, element bytes */
const allocatePitch: Handler = inContext((call) => {
  require(call.size(2) > 0 && call.size(3) > 0 && [4, 8, 16].includes(call.uint(4)));
  return sameAs(memoryCalls, "cudaMallocPitch")(call);
});

export const driverMemoryCalls: Handlers = {
  ...fills,
  cuMemAlloc_v2: some(sameAs(memoryCalls, "cudaMalloc")),
  cuMemAllocPitch_v2: allocatePitch,
  cuMemAllocHost_v2: some(sameAs(memoryCalls, "cudaMallocHost")),
  cuMemHostAlloc: runtime("cudaHostAlloc"),
  cuMemAllocManaged: some(sameAs(memoryCalls, "cudaMallocManaged")),
  cuMemFree_v2: runtime("cudaFree"),
  cuMemFreeHost: runtime("cudaFreeHost"),
  cuMemHostRegister_v2: runtime("cudaHostRegister"),
  cuMemHostUnregister: runtime("cudaHostUnregister"),
  cuMemHostGetDevicePointer_v2: runtime("cudaHostGetDevicePointer"),
  cuMemHostGetFlags: runtime("cudaHostGetFlags"),
  cuMemGetInfo_v2: runtime("cudaMemGetInfo"),
  cuMemGetAddressRange_v2: inContext(addressRange),
  cuMemcpy: inContext(line(byAddress, false)),
  cuMemcpyAsync: inContext(line(byAddress, true)),
  cuMemcpyHtoD_v2: inContext(line(1, false)),
  cuMemcpyHtoDAsync_v2: inContext(line(1, true)),
  cuMemcpyDtoH_v2: inContext(line(2, false)),
  cuMemcpyDtoHAsync_v2: inContext(line(2, true)),
  cuMemcpyDtoD_v2: inContext(line(3, false)),
  cuMemcpyDtoDAsync_v2: inContext(line(3, true)),
  /** destination, context, source, context, bytes, stream: all contexts have one range of addresses */
  cuMemcpyPeer: inContext((call) =>
    copy(call, { to: call.address(0), from: call.address(2), bytes: call.size(4), kind: 3 }),
  ),
  cuMemcpyPeerAsync: inContext((call) =>
    copy(call, { to: call.address(0), from: call.address(2), bytes: call.size(4), kind: 3 }, call.stream(5), true),
  ),
  cuMemcpy2D_v2: inContext((call) => copy2D(call, false)),
  cuMemcpy2DUnaligned_v2: inContext((call) => copy2D(call, false)),
  cuMemcpy2DAsync_v2: inContext((call) => copy2D(call, true)),
  cuMemcpy3D_v2: inContext((call) => copy3D(call, false)),
  cuMemcpy3DAsync_v2: inContext((call) => copy3D(call, true)),
  cuMemPrefetchAsync_v2: runtime("cudaMemPrefetchAsync"),
  cuMemcpyBatchAsync_v2: runtime("cudaMemcpyBatchAsync"),
  cuMemcpy3DBatchAsync_v2: runtime("cudaMemcpy3DBatchAsync"),
  cuMemPrefetchBatchAsync: runtime("cudaMemPrefetchBatchAsync"),
  cuMemDiscardBatchAsync: runtime("cudaMemDiscardBatchAsync"),
  cuMemDiscardAndPrefetchBatchAsync: runtime("cudaMemDiscardAndPrefetchBatchAsync"),
  cuMemAdvise_v2: runtime("cudaMemAdvise"),
  cuMemRangeGetAttribute: runtime("cudaMemRangeGetAttribute"),
  cuMemRangeGetAttributes: runtime("cudaMemRangeGetAttributes"),
  cuMemAllocAsync: runtime("cudaMallocAsync"),
  cuMemAllocFromPoolAsync: runtime("cudaMallocFromPoolAsync"),
  cuMemFreeAsync: runtime("cudaFreeAsync"),
  cuMemPoolCreate: runtime("cudaMemPoolCreate"),
  cuMemPoolDestroy: runtime("cudaMemPoolDestroy"),
  cuMemPoolTrimTo: runtime("cudaMemPoolTrimTo"),
  cuMemPoolSetAttribute: runtime("cudaMemPoolSetAttribute"),
  cuMemPoolGetAttribute: runtime("cudaMemPoolGetAttribute"),
  cuMemPoolSetAccess: runtime("cudaMemPoolSetAccess"),
  cuMemPoolGetAccess: runtime("cudaMemPoolGetAccess"),
  cuMemGetDefaultMemPool: runtime("cudaMemGetDefaultMemPool"),
  cuMemGetMemPool: runtime("cudaMemGetMemPool"),
  cuMemSetMemPool: runtime("cudaMemSetMemPool"),
  cuStreamAttachMemAsync: inContext(sameAs(streamCalls, "cudaStreamAttachMemAsync")),
  /** value, attribute, address */
  cuPointerGetAttribute: initialized((call) => {
    const target = call.target(0);
    call.poke(target, pointerAttribute(call, call.int(1), call.address(2)));
    return 0;
  }),
  cuPointerGetAttributes: initialized(pointerAttributes),
  cuPointerSetAttribute: initialized(setPointerAttribute),
};
