import type { TensorInterleave, TensorType } from "../../ir/index.ts";

const bits: Readonly<Record<TensorType, number>> = {
  u8: 8,
  u16: 16,
  u32: 32,
  s32: 32,
  u64: 64,
  s64: 64,
  f16: 16,
  f32: 32,
  f32ftz: 32,
  f64: 64,
  bf16: 16,
  tf32: 32,
  tf32ftz: 32,
  "16u4_align8b": 4,
  "16u4_align16b": 4,
  "16u6_align16b": 6,
};

/** The bits of an element in global memory. */
export const elementBits = (type: TensorType): number => bits[type];

/** Whether 16 elements at a time are padded to 16 bytes in shared memory (section 5.5.1.1). */
export const isPadded = (type: TensorType): boolean => type === "16u4_align16b" || type === "16u6_align16b";

/** Whether elements are smaller than a byte. */
export const isPacked = (type: TensorType): boolean => bits[type] < 8;

/** The bytes that `count` elements take in shared memory. */
export const sharedBytes = (type: TensorType, count: number): number =>
  isPadded(type) ? count : (count * bits[type]) / 8;

/** The bytes of a slice of channels in an interleaved layout (section 5.5.6); 0 without interleaving. */
export const sliceBytes: Readonly<Record<TensorInterleave, number>> = { none: 0, "16B": 16, "32B": 32 };
