import { errors, fail, require } from "../../base/errors.ts";
import type { Extent, Region } from "../../run/regions.ts";
import { arrayFlag, type ArrayExtent, type ChannelFormat, CudaArray } from "../../state/cuda-array.ts";
import type { Stream } from "../../work/stream.ts";
import { Bytes, type Call, type Handlers, type Status } from "../call.ts";
import { waitFor } from "../order.ts";
import { arrayAt, arrayRegion, copyRegion } from "../regions.ts";

/** Bytes of a cudaChannelFormatDesc. */
const formatBytes = 20;

/** Reads a cudaChannelFormatDesc at byte `at` of a structure. */
export function formatIn(view: DataView, at: number): ChannelFormat {
  const word = (i: number): number => view.getInt32(at + 4 * i, true);
  return { bits: [word(0), word(1), word(2), word(3)], kind: word(4) };
}

const formatData = ({ bits, kind }: ChannelFormat): Uint8Array => {
  const out = new Bytes(formatBytes);
  [...bits, kind].forEach((n, i) => {
    out.u32(4 * i, n);
  });
  return out.data;
};

/** The form of an array that is to be made. */
interface Wanted {
  readonly extent: ArrayExtent;
  readonly flags: number;
  readonly levels: number;
}

/** Makes an array for the program. Its format is where argument 1 says. */
const make = (call: Call, wanted: Wanted): Status =>
  addArray(call, formatIn(call.host.view(call.target(1), formatBytes), 0), wanted);

/** Makes an array for the program, whose handle goes where argument 0 says. */
export function addArray(call: Call, format: ChannelFormat, { extent, flags, levels }: Wanted): Status {
  const target = call.target(0);
  const { device, process } = call;
  const made = CudaArray.make(process.allocations, device.number, { format, extent, flags, levels });
  call.set64(target, process.arrays.add(made, made.handle));
  return 0;
}

/** A cudaExtent by value, on the stack. */
const extentOf = (call: Call): ArrayExtent => ({ width: call.size(6), height: call.size(7), depth: call.size(8) });

/** Frees the memory, once the device is idle. Its levels go with it. */
export function freeArray(call: Call): Status {
  const { device, process } = call;
  if (call.address(0) === 0n) return 0;
  const array = arrayAt(call, call.address(0));
  require(array.level === null, errors.invalidResourceHandle);
  return waitFor(call, device.streams.ended(), () => {
    for (const [handle, other] of process.arrays.entries()) {
      if (other.allocation === array.allocation) process.arrays.remove(handle);
    }
    process.allocations.free(array.allocation);
    return process.error;
  });
}

/** A place in an array, and one in ordinary memory. */
interface ArrayCopy {
  readonly array: Region;
  readonly other: Region;
  readonly extent: Extent;
  readonly kind: number;
  readonly isTo: boolean;
  readonly stream: Stream | undefined;
}

const copy = (call: Call, { array, other, extent, kind, isTo, stream }: ArrayCopy): Status =>
  copyRegion(
    call,
    { to: isTo ? array : other, from: isTo ? other : array, extent, kind },
    stream,
    stream !== undefined,
  );

/** array, x in bytes, y, source, pitch, width, height, kind, stream */
const rowsTo = (call: Call, stream?: Stream): Status =>
  copy(call, {
    array: arrayRegion(arrayAt(call, call.address(0)), call.size(1), call.size(2)),
    other: { address: call.address(3), pitch: call.size(4), rows: call.size(6) },
    extent: { width: call.size(5), height: call.size(6), depth: 1 },
    ...{ kind: call.int(7), isTo: true, stream },
  });

/** destination, pitch, array, x in bytes, y, width, height, kind, stream */
const rowsFrom = (call: Call, stream?: Stream): Status =>
  copy(call, {
    array: arrayRegion(arrayAt(call, call.address(2)), call.size(3), call.size(4)),
    other: { address: call.address(0), pitch: call.size(1), rows: call.size(6) },
    extent: { width: call.size(5), height: call.size(6), depth: 1 },
    ...{ kind: call.int(7), isTo: false, stream },
  });

/** Bytes one after the other, through the rows of an array: they follow each other there too. */
export const line = (address: bigint, width: number): { readonly region: Region; readonly extent: Extent } => ({
  region: { address, pitch: width, rows: 1 },
  extent: { width, height: 1, depth: 1 },
});

/** array, x in bytes, y, source, bytes, kind, stream */
function bytesTo(call: Call, stream?: Stream): Status {
  const { region, extent } = line(call.address(3), call.size(4));
  const { address } = arrayRegion(arrayAt(call, call.address(0)), call.size(1), call.size(2));
  const array = line(address, call.size(4)).region;
  return copy(call, { array, other: region, extent, kind: call.int(5), isTo: true, stream });
}

/** destination, array, x in bytes, y, bytes, kind, stream */
function bytesFrom(call: Call, stream?: Stream): Status {
  const { region, extent } = line(call.address(0), call.size(4));
  const { address } = arrayRegion(arrayAt(call, call.address(1)), call.size(2), call.size(3));
  const array = line(address, call.size(4)).region;
  return copy(call, { array, other: region, extent, kind: call.int(5), isTo: false, stream });
}

/** array, x, y, array, x, y, then the size, and the kind */
function between(call: Call, isRows: boolean): Status {
  const to = arrayRegion(arrayAt(call, call.address(0)), call.size(1), call.size(2));
  const from = arrayRegion(arrayAt(call, call.address(3)), call.size(4), call.size(5));
  const kind = call.int(isRows ? 8 : 7);
  if (isRows)
    return copyRegion(call, { to, from, extent: { width: call.size(6), height: call.size(7), depth: 1 }, kind });
  const { extent } = line(0n, call.size(6));
  return copyRegion(call, { to, from, extent, kind });
}

/** target, array, device */
function memoryRequirements(call: Call): Status {
  const { allocation, flags } = arrayAt(call, call.address(1));
  require((flags & arrayFlag.all) === flags);
  call.poke(call.target(0), new Bytes(32).u64(0, allocation.bytes).u64(8, 512).data);
  return 0;
}

/** The most texels of a texture of linear memory. */
export const linearTexels = 1 << 28;

export const arrayCalls: Handlers = {
  /** array, format, width, height, flags */
  cudaMallocArray(call) {
    const extent = { width: call.size(2), height: call.size(3), depth: 0 };
    return make(call, { extent, flags: call.uint(4), levels: 1 });
  },
  /** array, format, flags; the extent by value */
  cudaMalloc3DArray: (call) => make(call, { extent: extentOf(call), flags: call.uint(2), levels: 1 }),
  /** array, format, levels, flags; the extent by value */
  cudaMallocMipmappedArray: (call) => make(call, { extent: extentOf(call), flags: call.uint(3), levels: call.uint(2) }),
  cudaFreeArray: freeArray,
  cudaFreeMipmappedArray: freeArray,
  /** level's array, array, level */
  cudaGetMipmappedArrayLevel(call) {
    const target = call.target(0);
    const level = arrayAt(call, call.address(1)).levelAt(call.uint(2));
    call.set64(target, call.process.arrays.add(level, level.handle));
    return 0;
  },
  /** format, extent, flags, array: all but the last may be null */
  cudaArrayGetInfo(call) {
    const { format, extent, flags } = arrayAt(call, call.address(3));
    if (call.address(0) !== 0n) call.poke(call.address(0), formatData(format));
    if (call.address(1) !== 0n) {
      const sizes = new Bytes(24).u64(0, extent.width).u64(8, extent.height).u64(16, extent.depth);
      call.poke(call.address(1), sizes.data);
    }
    if (call.address(2) !== 0n) call.set32(call.address(2), flags);
    return 0;
  },
  cudaGetChannelDesc(call) {
    call.poke(call.target(0), formatData(arrayAt(call, call.address(1)).format));
    return 0;
  },
  cudaMemcpy2DToArray: (call) => rowsTo(call),
  cudaMemcpy2DToArrayAsync: (call) => rowsTo(call, call.stream(8)),
  cudaMemcpy2DFromArray: (call) => rowsFrom(call),
  cudaMemcpy2DFromArrayAsync: (call) => rowsFrom(call, call.stream(8)),
  cudaMemcpyToArray: (call) => bytesTo(call),
  cudaMemcpyToArrayAsync: (call) => bytesTo(call, call.stream(6)),
  cudaMemcpyFromArray: (call) => bytesFrom(call),
  cudaMemcpyFromArrayAsync: (call) => bytesFrom(call, call.stream(6)),
  cudaMemcpyArrayToArray: (call) => between(call, false),
  cudaMemcpy2DArrayToArray: (call) => between(call, true),
  /** width, format, device */
  cudaDeviceGetTexture1DLinearMaxWidth(call) {
    const target = call.target(0);
    formatIn(call.host.view(call.target(1), formatBytes), 0);
    call.process.device(call.int(2));
    call.set64(target, linearTexels);
    return 0;
  },
  /** plane, array, number: no format here has several */
  cudaArrayGetPlane: () => fail(errors.invalidValue),
  cudaArrayGetSparseProperties(call) {
    arrayAt(call, call.address(1));
    return fail(errors.invalidValue);
  },
  cudaArrayGetMemoryRequirements: memoryRequirements,
  cudaMipmappedArrayGetMemoryRequirements: memoryRequirements,
};
