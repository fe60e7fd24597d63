import type { MatrixProduct } from "./matrix-product.ts";
import type { Sparsity, SparseShape } from "./sparse-metadata.ts";

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
  /** Of a sparse A. */
  readonly sparsity: Sparsity | null;
}

/** Rows of D that a warp computes, and that a warpgroup computes. */
export const warpRows = 16;
/** Rows of A and D: 16 for each warp of the group. */
export const warpgroupRows = 64;

/** Elements of a row of the dense A, or of a column of B. */
export const depthOf = ({ tile, sparsity }: WarpgroupProduct): number => (sparsity === null ? tile.k : 2 * tile.k);

/** The numbers of operands of a warp's part of a product; `registersOfA`: the first of these, if A is in registers. */
export const productOperands = { b: 0, a: 1, accumulates: 2, metadata: 3, registersOfA: 4 } as const;

/** The number of the operand that is the first register of C. */
export const registersOfC = ({ left }: WarpgroupProduct): number =>
  productOperands.registersOfA + (left.kind === "registers" ? 4 : 0);

/** The sparse matrix of a product that has one. */
export const sparseShapeOf = (product: WarpgroupProduct, sparsity: Sparsity): SparseShape => ({
  k: depthOf(product),
  bits: product.tile.bits,
  sparsity,
});
