import type { MatrixProduct } from "./matrix-product.ts";

/**
 * A warp's part of a product that a warpgroup computes (section 9.7.15): 16 of the 64 rows of D = A * B + C. B is in
 * shared memory, A there too or in registers; descriptors give their layouts (`layoutOf`).
 */
export interface WarpgroupProduct {
  /**
   * The product of the warp's rows, with the fragments of A and D as `fragmentOf` gives them. `k`: the elements of A in
   * a row, of which a sparse matrix has half as many as B.
   */
  readonly tile: MatrixProduct;
  /** Where A is, and, in shared memory, whether k varies fastest there. */
  readonly left: { readonly kind: "registers" } | { readonly kind: "shared"; readonly kMajor: boolean };
  readonly right: { readonly kMajor: boolean };
  /** Whether the elements of A and B are negated. */
  readonly negate: { readonly a: boolean; readonly b: boolean };
  /** Of a sparse A: which lanes hold the metadata. */
  readonly sparsity: WarpgroupSparsity | null;
}

/** Structured sparsity of A (section 9.7.15.6.1): half of the elements of each chunk of a row are present. */
export interface WarpgroupSparsity {
  /** One of two elements (tf32), or two of four. */
  readonly chunk: 2 | 4;
  /** The lanes of four that hold the metadata: 0 for the first two, 1 for the others; of 8-bit types all do. */
  readonly selector: number;
}

/** Rows of D that a warp computes, and that a warpgroup computes. */
export const warpRows = 16;
export const warpgroupRows = 64;

/** Elements of a row of the dense A, or of a column of B. */
export const depthOf = ({ tile, sparsity }: WarpgroupProduct): number => (sparsity === null ? tile.k : 2 * tile.k);

/** The numbers of the first operands of a warp's part of a product that are registers of A, and of C. */
export const registersOfA = 3;
export const registersOfC = ({ left }: WarpgroupProduct): number => registersOfA + (left.kind === "registers" ? 4 : 0);

/** Four bits of a lane's metadata, from `shift` on: they say which elements of a chunk are present. */
export interface WarpgroupMetadataPlace {
  readonly lane: number;
  readonly shift: number;
}

/**
 * Where the metadata of a chunk of a row is (sections 9.7.15.6.2.1 to 9.7.15.6.2.3). Four lanes have two rows of eight
 * or sixteen chunks. Of eight chunks two lanes hold four each, of row g in the lower half and of row g + 8 in the upper
 * one. Of sixteen chunks each of the four lanes holds eight, of row g or of row g + 8.
 */
export function warpgroupMetadataPlace(
  row: number,
  chunk: number,
  chunks: number,
  selector: number,
): WarpgroupMetadataPlace {
  const first = 4 * (row & 7);
  const upper = row >> 3;
  if (chunks === 8) return { lane: first + 2 * selector + (chunk >> 2), shift: 16 * upper + 4 * (chunk & 3) };
  return { lane: first + 2 * (chunk >> 3) + upper, shift: 4 * (chunk & 7) };
}
