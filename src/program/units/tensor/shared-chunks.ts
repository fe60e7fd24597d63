import { chunkAddress, chunkBytes, type TensorMatrixLayout } from "../../../ir/index.ts";
import type { Range, UnitCall } from "../unit-call.ts";
import type { TensorBlock } from "./blocks.ts";

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

/** Reads chunks into memory in which each is at its own address; valid until the next read. */
export type ReadSharedChunks = () => Uint8Array;

/**
 * Finds the chunks of a block's shared memory with these addresses. Chunks that follow each other are one access.
 *
 * @throws Fault if the lane must not access them
 */
export function findChunks(
  call: UnitCall,
  lane: number,
  { space, shared }: TensorBlock,
  addresses: Int32Array,
): ReadSharedChunks {
  const sorted = addresses.slice().sort();
  const parts: { readonly from: number; readonly range: Range; readonly bytes: number }[] = [];
  for (let i = 0; i < sorted.length; ) {
    const from = sorted[i]!;
    let end = from;
    while (i < sorted.length && sorted[i]! <= end) end = sorted[i++]! + chunkBytes;
    const [address, bytes] = [{ high: 0, low: shared + from }, end - from];
    parts.push({ from, bytes, range: call.range({ lane, effect: "load", space, address, bytes, align: chunkBytes }) });
  }
  return () => {
    for (const { from, range, bytes } of parts) {
      scratch.set(range.views.u8.subarray(range.at, range.at + bytes), from);
    }
    return scratch;
  };
}
