import type { Access } from "../../../ir/index.ts";
import type { FunctionWriter, MemoryOp } from "../../../wasm/index.ts";

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
