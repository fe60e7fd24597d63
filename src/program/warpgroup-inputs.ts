import type { SharedMatrixLayout } from "../ir/index.ts";

/** Copies chunks of shared memory, four words each, of which the first `count` addresses are given. */
export type ReadChunks = (addresses: Int32Array, count: number, into: Int32Array) => void;

/** What a warp brings to a product. Registers have a word for each lane, one register after the other. */
export interface WarpgroupInputs {
  /** The number of the warp in its block: of a warpgroup each warp computes its own 16 rows. */
  readonly warp: number;
  /** The registers of A, or the layout in its descriptor. */
  readonly a: Int32Array | SharedMatrixLayout;
  readonly b: SharedMatrixLayout;
  /** The register of the metadata, of a sparse A. */
  readonly metadata: Int32Array | null;
  readonly c: Int32Array;
}
