import { chunkAddress, chunkBytes, type TensorMatrixLayout, windows } from "../../../ir/index.ts";
import type { UnitCall } from "../unit-call.ts";

/** Addresses that a descriptor can give have 18 bits; strides may go beyond them. */
const scratch = new Uint8Array(1 << 20);

/** The address of a chunk of a line (section 9.7.16.3), in bytes from the beginning of shared memory. */
export function tensorChunkAddress(layout: TensorMatrixLayout, kMajor: boolean, line: number, chunk: number): number {
  const { start, leading, absolute } = layout;
  if (!absolute) return chunkAddress(layout, kMajor, line, chunk);
  const inFirst = (128 - (start & 127)) / chunkBytes;
  if (chunk < inFirst) return chunkAddress(layout, kMajor, line, chunk);
  return chunkAddress({ ...layout, start: leading }, kMajor, line, chunk - inFirst);
}

/**
 * The bytes of shared memory at the chunks with these addresses: each at its own address. Chunks that follow each other
 * are one access. The result is valid until the next call.
 *
 * @throws Fault if the lane must not access them
 */
export function readChunks(call: UnitCall, lane: number, addresses: Int32Array): Uint8Array {
  const sorted = addresses.slice().sort();
  for (let i = 0; i < sorted.length; ) {
    const from = sorted[i]!;
    let end = from;
    while (i < sorted.length && sorted[i]! <= end) end = sorted[i++]! + chunkBytes;
    const address = { high: 0, low: windows.shared.start + from };
    const range = call.range({ lane, effect: "load", space: "shared", address, bytes: end - from, align: chunkBytes });
    scratch.set(range.views.u8.subarray(range.at, range.at + end - from), from);
  }
  return scratch;
}
