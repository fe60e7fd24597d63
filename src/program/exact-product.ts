import type { MatrixProduct } from "../ir/index.ts";
import type { Grid } from "../machine/state/launch-state.ts";

const known = new WeakMap<MatrixProduct, MatrixProduct>();

/** The product as a launch computes it: as the hardware does, or with sums that are exact and rounded once. */
export function productIn({ matrix }: Pick<Grid, "matrix">, product: MatrixProduct): MatrixProduct {
  if (matrix === "hardware" || (product.rule.kind !== "sum" && product.rule.kind !== "blocks")) return product;
  let exact = known.get(product);
  if (exact === undefined) known.set(product, (exact = { ...product, rule: { kind: "exact" } }));
  return exact;
}
