import { errors, require } from "../base/errors.ts";
import { checkDirection } from "../run/copies.ts";
import { copyRows, type Extent, isEmpty, placeOfRegion, type Region } from "../run/regions.ts";
import { copyParams } from "../run/tasks.ts";
import type { CudaArray } from "../state/cuda-array.ts";
import type { Stream } from "../work/stream.ts";
import { Bytes, type Call, type Handlers, type Status } from "./call.ts";
import { allocate, type CopyWork, fill, move, pitchOf } from "./memory.ts";

/** A copy of rows, in a direction by its number. */
export interface RegionCopy {
  readonly to: Region;
  readonly from: Region;
  readonly extent: Extent;
  readonly kind: number;
}

/** Copies rows in the order of a stream. */
export function copyRegion(call: Call, copy: RegionCopy, stream: Stream = call.defaultStream, isAsync = false): Status {
  void call.device;
  require(Number.isInteger(copy.kind) && copy.kind >= 0 && copy.kind <= 4, errors.invalidMemcpyDirection);
  if (isEmpty(copy.extent)) return 0;
  return move(call, regionWork(call, copy), { stream, isAsync });
}

/** A copy of rows as work. Throws if it is not possible. */
export function regionWork({ process }: Call, { to, from, extent, kind }: RegionCopy): CopyWork {
  const places = [placeOfRegion(process, to, extent), placeOfRegion(process, from, extent)] as const;
  checkDirection(process, kind, places[0], places[1]);
  const run = (): void => copyRows(process, places, [to, from], extent);
  return { places, run, params: () => copyParams(to, from, extent, kind) };
}

/** dst, dpitch, src, spitch, width, height, kind, stream */
function copy2D(call: Call, isAsync: boolean): Status {
  const [width, height] = [call.size(4), call.size(5)];
  return copyRegion(
    call,
    {
      to: { address: call.address(0), pitch: call.size(1), rows: height },
      from: { address: call.address(2), pitch: call.size(3), rows: height },
      extent: { width, height, depth: 1 },
      kind: call.int(6),
    },
    isAsync ? call.stream(7) : call.defaultStream,
    isAsync,
  );
}

/** Sets each byte of a region. */
const fillRegion = (call: Call, region: Region, extent: Extent, value: number, stream?: Stream): Status =>
  fill(call, { region, extent, value, elementBytes: 1 }, stream);

/** ptr, pitch, value, width, height, stream */
const fill2D = (call: Call, stream?: Stream): Status =>
  fillRegion(
    call,
    { address: call.address(0), pitch: call.size(1), rows: call.size(4) },
    { width: call.size(3), height: call.size(4), depth: 1 },
    call.int(2),
    stream,
  );

/** value; on the stack by value: pointer, pitch, xsize, ysize, width, height, depth; stream in a register */
const fill3D = (call: Call, stream?: Stream): Status =>
  fillRegion(
    call,
    { address: call.address(6), pitch: call.size(7), rows: call.size(9) },
    { width: call.size(10), height: call.size(11), depth: call.size(12) },
    call.int(0),
    stream,
  );

/** The array that a handle names. Throws if there is none. */
export const arrayAt = (call: Call, handle: bigint): CudaArray => call.process.arrays.get(handle);

/** The memory of an array from a place in it on: x in bytes, rows, slices or layers. */
export function arrayRegion({ address, size, extent, image }: CudaArray, x: number, y: number, z = 0): Region {
  const { rowPitch } = size;
  const rows = Math.max(1, extent.height);
  const left = {
    width: extent.width * image.texelBytes - x,
    height: rows - y,
    depth: Math.max(1, extent.depth) - z,
  };
  require(left.width >= 0 && left.height > 0 && left.depth > 0);
  return { address: address + BigInt(x + rowPitch * (y + rows * z)), pitch: rowPitch, rows, left };
}

/**
 * Reads a cudaMemcpy3DParms: array, position, pitched pointer of either side, extent, kind. With an array, widths and
 * places in it are counted in its texels; places in other memory in bytes.
 */
export function regionCopyOf(call: Call, view: DataView): RegionCopy {
  const word = (at: number): bigint => view.getBigUint64(at, true);
  const number = (at: number): number => Number(word(at));
  const [fromArray, toArray] = [0, 64].map((at) => (word(at) === 0n ? null : arrayAt(call, word(at))));
  const region = (array: CudaArray | null | undefined, position: number, pointer: number): Region => {
    const [x, y, z] = [number(position), number(position + 8), number(position + 16)];
    if (array) return arrayRegion(array, x * array.image.texelBytes, y, z);
    const [pitch, rows] = [number(pointer + 8), number(pointer + 24)];
    return { address: word(pointer) + BigInt(x + pitch * (y + rows * z)), pitch, rows };
  };
  const { texelBytes } = (toArray ?? fromArray)?.image ?? { texelBytes: 1 };
  const extent = { width: number(128) * texelBytes, height: number(136), depth: number(144) };
  return { to: region(toArray, 72, 96), from: region(fromArray, 8, 32), extent, kind: view.getInt32(152, true) };
}

const copy3D = (call: Call, stream?: Stream): Status =>
  copyRegion(call, regionCopyOf(call, call.host.view(call.target(0), 160)), stream, stream !== undefined);

export const regionCalls: Handlers = {
  cudaMemcpy2D: (call) => copy2D(call, false),
  cudaMemcpy2DAsync: (call) => copy2D(call, true),
  cudaMemset2D: (call) => fill2D(call),
  cudaMemset2DAsync: (call) => fill2D(call, call.stream(5)),
  cudaMemset3D: (call) => fill3D(call),
  cudaMemset3DAsync: (call) => fill3D(call, call.stream(1)),
  cudaMemcpy3D: (call) => copy3D(call),
  cudaMemcpy3DAsync: (call) => copy3D(call, call.stream(1)),
  cudaMalloc3D(call) {
    const target = call.target(0);
    const [width, height, depth] = [call.size(6), call.size(7), call.size(8)];
    const pitch = pitchOf(width);
    const address = allocate(call, "device", pitch * height * depth);
    call.poke(target, new Bytes(32).u64(0, address).u64(8, pitch).u64(16, width).u64(24, height).data);
    return 0;
  },
};
