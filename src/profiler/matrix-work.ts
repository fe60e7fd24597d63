import { fragmentOf, type MatrixProduct, type Op } from "../ir/index.ts";

/** The multiplications that a warp makes in an operation, each with an addition; null if it multiplies no matrices. */
export function multiplyAddsOf(op: Op): number | null {
  if (op.kind === "unit") return op.unit.op === "multiply-warpgroup" ? inProduct(op.unit.product.tile) : null;
  return op.kind === "warp" && op.warp.op === "multiply" ? inProduct(op.warp.product) : null;
}

function inProduct(product: MatrixProduct): number {
  const { m, n, k } = product;
  return m * n * k * fragmentOf(product, "d").products;
}
