import type { TensorMap } from "../../../src/program/tensor/tensor-map.ts";

/** A tiled map of bytes: 64 columns, 8 rows, boxes of 16 columns and 4 rows. */
export const plainMap: TensorMap = {
  type: "u8",
  globalAddress: 0x1000n,
  globalDim: [64, 8],
  globalStrides: [64],
  box: { mode: "tiled", size: [16, 4] },
  elementStrides: [1, 1],
  interleave: "none",
  swizzle: "none",
  l2Promotion: "none",
  oobFill: "none",
};
