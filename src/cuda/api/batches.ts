import { errors, require } from "../base/errors.ts";
import { noLocation } from "../state/advice.ts";
import type { CudaArray } from "../state/cuda-array.ts";
import type { Extent, Region } from "../run/regions.ts";
import type { Stream } from "../work/stream.ts";
import { adviceOf, locationOf } from "./advice.ts";
import type { Call, Handlers, Status } from "./call.ts";
import { type CopyWork, linearWork, move } from "./memory.ts";
import { arrayAt, arrayRegion, copyRegion, regionCopyOf, regionWork } from "./regions.ts";

/** Many copies, prefetches or discards in one call, in the order of a stream, but in none among each other. */

const maxCount = 1 << 20;

/** The direction of a copy that its addresses say. */
const byAddress = 4;

/** The stream of a batch, which must not be the legacy default stream. */
function streamOf(call: Call, i: number): Stream {
  const stream = call.stream(i);
  require(stream !== call.device.streams.legacy);
  return stream;
}

/** So many words, of a list to which an argument points. */
function listAt(call: Call, i: number, count: number): readonly bigint[] {
  require(Number.isInteger(count) && count > 0 && count <= maxCount);
  return call.host.words(call.target(i), count);
}

/**
 * Which of the items of a second list each of `count` operations has. `indexes`: the first operation of each item, in
 * rising order, the first of all being 0.
 */
function itemOfEach(indexes: readonly bigint[], count: number): readonly number[] {
  const firsts = indexes.map(Number);
  require(firsts.length <= count && firsts[0] === 0);
  require(firsts.every((first, i) => first < count && (i === 0 || first > firsts[i - 1]!)));
  return Array.from({ length: count }, (_, i) => firsts.findLastIndex((first) => first <= i));
}

/** cudaMemcpySrcAccessOrder and the flags of a copy. */
function checkCopyAttributes(order: number, flags: number): void {
  require(order >= 1 && order <= 3 && (flags & ~1) === 0);
}

/** Puts all copies into the stream. The first error is that of the call. */
function moveAll(call: Call, copies: readonly CopyWork[], stream: Stream): Status {
  const statuses = copies.map((work) => move(call, work, { stream, isAsync: true }));
  const firstError = (all: readonly number[]): number => all.find((status) => status !== 0) ?? 0;
  const done = statuses.filter((status) => typeof status === "number");
  return done.length === statuses.length ? firstError(done) : Promise.all(statuses).then(firstError);
}

const attributesBytes = 24;

/** destinations, sources, sizes, count, attributes, their first copies, number of attributes, stream */
function copyBatch(call: Call): Status {
  const { process, host } = call;
  const stream = streamOf(call, 7);
  const count = call.size(3);
  const [to, from, sizes] = [listAt(call, 0, count), listAt(call, 1, count), listAt(call, 2, count)];
  const indexes = listAt(call, 5, call.size(6));
  itemOfEach(indexes, count);
  const attributes = host.view(call.target(4), attributesBytes * indexes.length);
  for (let at = 0; at < attributes.byteLength; at += attributesBytes) {
    checkCopyAttributes(attributes.getInt32(at, true), attributes.getUint32(at + 20, true));
  }
  const copies = to.flatMap((address, i) => {
    const bytes = Number(sizes[i]);
    return bytes === 0 ? [] : [linearWork(process, { to: address, from: from[i]!, bytes, kind: byAddress })];
  });
  return moveAll(call, copies, stream);
}

const operationBytes = 112;
const operandBytes = 40;

/** An end of a copy of a batch: memory from an address on, or an array from a place in it on. */
function operandOf(call: Call, view: DataView, at: number): { readonly array: CudaArray | null; readonly at: number } {
  const type = view.getInt32(at, true);
  require(type === 1 || type === 2);
  return { array: type === 2 ? arrayAt(call, view.getBigUint64(at + 8, true)) : null, at: at + 8 };
}

/** Reads a cudaMemcpy3DBatchOp: source, destination, extent in elements, order of access, flags. */
function copyOf(call: Call, view: DataView, at: number): CopyWork {
  const number = (offset: number): number => Number(view.getBigUint64(offset, true));
  const [source, target] = [operandOf(call, view, at), operandOf(call, view, at + operandBytes)];
  const texelBytes = [source, target].flatMap(({ array }) => (array === null ? [] : [array.image.texelBytes]));
  const [elementBytes = 1] = texelBytes;
  require(texelBytes.every((bytes) => bytes === elementBytes));
  const [columns, height, depth] = [number(at + 80), number(at + 88), number(at + 96)];
  require(columns > 0 && height > 0 && depth > 0);
  checkCopyAttributes(view.getInt32(at + 104, true), view.getUint32(at + 108, true));
  const extent: Extent = { width: columns * elementBytes, height, depth };
  const region = ({ array, at: place }: typeof source): Region => {
    const [first, second, third] = [number(place + 8), number(place + 16), number(place + 24)];
    if (array !== null) return arrayRegion(array, first * elementBytes, second, third);
    require((first === 0 || first >= columns) && (second === 0 || second >= height));
    return {
      address: view.getBigUint64(place, true),
      pitch: (first || columns) * elementBytes,
      rows: second || height,
    };
  };
  return regionWork(call, { to: region(target), from: region(source), extent, kind: byAddress });
}

/** number of operations, operations, flags, stream */
function copy3DBatch(call: Call): Status {
  const stream = streamOf(call, 3);
  const count = call.size(0);
  require(Number.isInteger(count) && count > 0 && count <= maxCount && call.address(2) === 0n);
  const view = call.host.view(call.target(1), operationBytes * count);
  const copies = Array.from({ length: count }, (_, i) => copyOf(call, view, i * operationBytes));
  return moveAll(call, copies, stream);
}

/** addresses, sizes, count, locations, their first operations, number of locations, flags, stream */
function prefetchBatch(call: Call): Status {
  streamOf(call, 7);
  const count = call.size(2);
  const [addresses, sizes] = [listAt(call, 0, count), listAt(call, 1, count)];
  const numbers = call.size(5);
  const locations = listAt(call, 3, numbers).map((word) => locationOf(call, word));
  require(!locations.includes(noLocation));
  const which = itemOfEach(listAt(call, 4, numbers), count);
  require(call.address(6) === 0n);
  const all = addresses.map((address, i) => adviceOf(call, address, Number(sizes[i])));
  all.forEach((parts, i) => {
    for (const known of parts) known.prefetched = locations[which[i]!]!;
  });
  return 0;
}

/** addresses, sizes, count, flags, stream. What is discarded is indeterminate, so it may stay what it is. */
function discardBatch(call: Call): Status {
  streamOf(call, 4);
  const count = call.size(2);
  const [addresses, sizes] = [listAt(call, 0, count), listAt(call, 1, count)];
  require(call.address(3) === 0n);
  addresses.forEach((address, i) => void adviceOf(call, address, Number(sizes[i])));
  return 0;
}

const peerBytes = 168;
const parameterBytes = 160;

/** A cudaMemcpy3DPeerParms, which has a device after each end. All devices have one range of addresses. */
function copy3DPeer(call: Call, stream?: Stream): Status {
  const given = call.host.read(call.target(0), peerBytes);
  const view = new DataView(given.buffer);
  for (const at of [64, 136]) {
    const device = view.getInt32(at, true);
    require(device >= 0 && device < call.process.deviceCount, errors.invalidDevice);
  }
  const parameters = new Uint8Array(parameterBytes);
  parameters.set(given.subarray(0, 64));
  parameters.set(given.subarray(72, 136), 64);
  parameters.set(given.subarray(144, peerBytes), 128);
  const both = new DataView(parameters.buffer);
  both.setInt32(152, byAddress, true);
  return copyRegion(call, regionCopyOf(call, both), stream, stream !== undefined);
}

export const batchCalls: Handlers = {
  cudaMemcpyBatchAsync: copyBatch,
  cudaMemcpy3DBatchAsync: copy3DBatch,
  cudaMemPrefetchBatchAsync: prefetchBatch,
  cudaMemDiscardBatchAsync: discardBatch,
  cudaMemDiscardAndPrefetchBatchAsync: prefetchBatch,
  cudaMemcpy3DPeer: (call) => copy3DPeer(call),
  cudaMemcpy3DPeerAsync: (call) => copy3DPeer(call, call.stream(1)),
};
