import type { ExternalCall, ExternalFunction } from "../../machine/state/externals.ts";
import { viewOf } from "../data/element.ts";
import { status } from "./device-status.ts";
import { readBytes, writeBytes } from "./lane-memory.ts";

/** Hands over what moves bytes of device memory, after the grid. */
function handOverCopy(call: ExternalCall, run: () => void): bigint {
  const { handOver } = call.x.warp.cta.grid.device;
  if (handOver === null) return status.notSupported;
  handOver({ kind: "operation", run });
  return status.success;
}

/** Rows in device memory, one after the other, and boxes of them. */
interface Rows {
  readonly address: bigint;
  /** Bytes from a row to the next. */
  readonly pitch: bigint;
  /** Rows from a layer to the next. */
  readonly height: bigint;
}

/** Bytes of a row, rows of a layer, layers. */
type Extent = readonly [width: bigint, height: bigint, depth: bigint];

const rowAddress = ({ address, pitch, height }: Rows, y: bigint, z: bigint): bigint =>
  address + (z * height + y) * pitch;

/** Whether the rows of a box overlap. */
const overlaps = ({ pitch }: Rows, [width, height, depth]: Extent): boolean => pitch < width && height * depth > 1n;

function eachRow([, height, depth]: Extent, visit: (y: bigint, z: bigint) => void): void {
  for (let z = 0n; z < depth; z++) for (let y = 0n; y < height; y++) visit(y, z);
}

function copyBox(call: ExternalCall, to: Rows, from: Rows, extent: Extent): bigint {
  if (overlaps(to, extent) || overlaps(from, extent)) return status.invalidPitchValue;
  const width = Number(extent[0]);
  if (width === 0) return status.success;
  return handOverCopy(call, () =>
    eachRow(extent, (y, z) => writeBytes(call, rowAddress(to, y, z), readBytes(call, rowAddress(from, y, z), width))),
  );
}

function fillBox(call: ExternalCall, to: Rows, value: bigint, extent: Extent): bigint {
  if (overlaps(to, extent)) return status.invalidPitchValue;
  const row = new Uint8Array(Number(extent[0])).fill(Number(value & 255n));
  if (row.length === 0) return status.success;
  return handOverCopy(call, () => eachRow(extent, (y, z) => writeBytes(call, rowAddress(to, y, z), row)));
}

const line = (address: bigint): Rows => ({ address, pitch: 0n, height: 1n });

/** `cudaMemcpyAsync(void *to, const void *from, size_t bytes, kind, stream)` */
export const copyAsync: ExternalFunction = (call) => {
  const [to = 0n, from = 0n, bytes = 0n] = call.args;
  return copyBox(call, line(to), line(from), [bytes, 1n, 1n]);
};

/** `cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch, width, height, kind, stream)` */
export const copy2DAsync: ExternalFunction = (call) => {
  const [to = 0n, toPitch = 0n, from = 0n, fromPitch = 0n, width = 0n, height = 0n] = call.args;
  const rows = (address: bigint, pitch: bigint): Rows => ({ address, pitch, height });
  return copyBox(call, rows(to, toPitch), rows(from, fromPitch), [width, height, 1n]);
};

/** Where the members of cudaMemcpy3DParms are: arrays, which kernels cannot copy, and places in pitched memory. */
const boxCopyBytes = 160;
const [fromAt, toAt, extentAt] = [0, 64, 128];

/** Words of eight bytes: an array, a position (x, y, z), a pointer with its pitch, width and height. */
function pitchedAt(params: DataView, at: number): Rows | null {
  const word = (i: number): bigint => params.getBigUint64(at + 8 * i, true);
  const [x, y, z] = [word(1), word(2), word(3)];
  const [pointer, pitch, height] = [word(4), word(5), word(7)];
  if (word(0) !== 0n || pointer === 0n) return null;
  return { address: pointer + (z * height + y) * pitch + x, pitch, height };
}

/** `cudaMemcpy3DAsync(const cudaMemcpy3DParms *params, stream)` */
export const copy3DAsync: ExternalFunction = (call) => {
  const params = viewOf(readBytes(call, call.args[0]!, boxCopyBytes));
  const [to, from] = [pitchedAt(params, toAt), pitchedAt(params, fromAt)];
  if (to === null || from === null) return status.invalidValue;
  const extent = [0, 8, 16].map((at) => params.getBigUint64(extentAt + at, true));
  return copyBox(call, to, from, [extent[0]!, extent[1]!, extent[2]!]);
};

/** `cudaMemsetAsync(void *to, int value, size_t bytes, stream)` */
export const fillAsync: ExternalFunction = (call) => {
  const [to = 0n, value = 0n, bytes = 0n] = call.args;
  return fillBox(call, line(to), value, [bytes, 1n, 1n]);
};

/** `cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, stream)` */
export const fill2DAsync: ExternalFunction = (call) => {
  const [address = 0n, pitch = 0n, value = 0n, width = 0n, height = 0n] = call.args;
  return fillBox(call, { address, pitch, height }, value, [width, height, 1n]);
};

/** A size_t in a structure, which comes as two words of four bytes. */
const sizeAt = (args: readonly bigint[], i: number): bigint => args[i]! | (args[i + 1]! << 32n);

/** `cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, stream)` */
export const fill3DAsync: ExternalFunction = (call) => {
  const { args } = call;
  const to = { address: sizeAt(args, 0), pitch: sizeAt(args, 2), height: sizeAt(args, 6) };
  return fillBox(call, to, args[8]!, [sizeAt(args, 9), sizeAt(args, 11), sizeAt(args, 13)]);
};
