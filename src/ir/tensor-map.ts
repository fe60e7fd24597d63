/*
 * A tensor map, whose 128 bytes the manual leaves to the machine (section 5.5.8). Every field has bytes of its own and
 * holds what `tensormap.replace` writes (section 9.7.9.28, table 33), so that replacing a field is a store.
 */

/** The bytes of a tensor map, and the alignment of its address. */
export const tensorMapBytes = 128;
/** Bytes to which a tensor map is aligned. */
export const tensorMapAlign = 64;

/** The most dimensions of a tensor. */
export const maxTensorRank = 5;

/** By field, where it begins. Lists have `maxTensorRank` elements; all numbers are little-endian. */
export const tensorMapFields = {
  /** 64 bits: the address of the element (0, 0, ...). */
  global_address: 0,
  /** 32 bits each: the size in elements; 0 stands for 2^32. */
  global_dim: 8,
  /** 32 bits: the number of dimensions less 1. */
  rank: 28,
  /** 64 bits each: the bytes between neighbours in dimension i + 1. The last is not used. */
  global_stride: 32,
  /**
   * 32 bits each: the size of the box. For im2col: channels, pixels, and by spatial dimension the corners (16 bits).
   */
  box_dim: 72,
  /** 32 bits each. */
  element_stride: 92,
  /** 8 bits each, as in table 33. */
  elemtype: 112,
  interleave_layout: 113,
  swizzle_mode: 114,
  swizzle_atomicity: 115,
  fill_mode: 116,
  /** 8 bits: 0 tiled, 1 im2col, 2 im2col::w. */
  access_mode: 117,
  /** 8 bits, as CUtensorMapL2promotion; without effect here. */
  l2_promotion: 118,
} as const;

/** Bytes of a tensor map that are 0. */
export const tensorMapReserved = { from: 119, to: 128 } as const;

/** The types of elements, in the order of their numbers in table 33. */
export const tensorTypes = [
  "u8",
  "u16",
  "u32",
  "s32",
  "u64",
  "s64",
  "f16",
  "f32",
  "f32ftz",
  "f64",
  "bf16",
  "tf32",
  "tf32ftz",
  "16u4_align8b",
  "16u4_align16b",
  "16u6_align16b",
] as const;
/** The type of a tensor's elements, as `cuTensorMapEncodeTiled` names it. */
export type TensorType = (typeof tensorTypes)[number];

/** How channels of a tensor may be interleaved, by the number in a tensor map. */
export const tensorInterleaves = ["none", "16B", "32B"] as const;
/** How channels of a tensor are interleaved. */
export type TensorInterleave = (typeof tensorInterleaves)[number];

/** The swizzles, each with its mode and atomicity in table 33. */
export const tensorSwizzles = {
  none: { mode: 0, atomicity: 0 },
  "32B": { mode: 1, atomicity: 0 },
  "64B": { mode: 2, atomicity: 0 },
  "96B": { mode: 4, atomicity: 0 },
  "128B": { mode: 3, atomicity: 0 },
  "128B_atom_32B": { mode: 3, atomicity: 1 },
  "128B_atom_32B_flip_8B": { mode: 3, atomicity: 2 },
  "128B_atom_64B": { mode: 3, atomicity: 3 },
} as const;
/** How chunks of a box are exchanged in shared memory. */
export type TensorSwizzle = keyof typeof tensorSwizzles;

/** What elements beyond the bounds may read as, by the number in a tensor map. */
export const tensorFills = ["none", "nan"] as const;
/** What elements beyond the bounds read as. */
export type TensorFill = (typeof tensorFills)[number];

/** What the L2 cache may fetch at once, by the number in a tensor map. */
export const tensorL2Promotions = ["none", "64B", "128B", "256B"] as const;
/** What the L2 cache fetches at once; nothing here depends on it. */
export type TensorL2Promotion = (typeof tensorL2Promotions)[number];
