import type { Access } from "../../../ir/index.ts";
import { type FunctionWriter, type MemoryOp, type Wasm, wasm } from "../../../wasm/index.ts";

/** The store of an element: the low bits of an i64 for 64 bits, else of an i32. */
export const scalarStore = ({ bits }: Pick<Access, "bits">): MemoryOp =>
  bits === 64 ? "i64.store" : bits === 32 ? "i32.store" : bits === 16 ? "i32.store16" : "i32.store8";

/**
 * Loads contiguous elements from the address on the stack as one vector: two of 64 bits, or four, of which those of 8
 * and 16 bits are extended to 32.
 */
export function loadElements(
  writer: FunctionWriter,
  { bits, signed }: Pick<Access, "bits" | "signed">,
  align: number,
  offset: number,
): void {
  const sign = signed ? "s" : "u";
  if (bits >= 32) writer.memory("v128.load", align, offset);
  else if (bits === 16) writer.memory(`v128.load16x4_${sign}`, align, offset);
  else {
    writer.memory("v128.load32_zero", align, offset);
    writer.op(`i16x8.extend_low_i8x16_${sign}`);
    writer.op(`i32x4.extend_low_i16x8_${sign}`);
  }
}

/** The most bytes that are cleared by stores: a call of the host's own function costs as much as many of them. */
const maxStoredBytes = 256;

/** Writes zeros from one byte to another, counted from an address. */
export function clearBytes(writer: FunctionWriter, address: Wasm, from: number, to: number): void {
  if (to - from > maxStoredBytes) {
    writer.values([wasm.op("i32.add", address, wasm.i32(from)), wasm.i32(0), wasm.i32(to - from)]);
    writer.memoryFill();
    return;
  }
  for (let at = from; at < to; ) {
    const left = to - at;
    const [op, bytes] = zeroStores.find(([, size]) => size <= left)!;
    writer.value(address);
    writer.value(zeroOf[op]);
    writer.memory(op, 1, at);
    at += bytes;
  }
}

const zeroStores = [
  ["v128.store", 16],
  ["i64.store", 8],
  ["i32.store", 4],
  ["i32.store8", 1],
] as const;

const zeroOf = {
  "v128.store": wasm.i32x4(0),
  "i64.store": wasm.i64(0n),
  "i32.store": wasm.i32(0),
  "i32.store8": wasm.i32(0),
} as const;
