import type { ProductRule } from "../ir/index.ts";
import { fma64 } from "../numeric/binary64.ts";
import { exactSum } from "../numeric/exact-sum.ts";
import { sumOfProducts, sumOfScaledGroups, type TensorLine } from "../numeric/tensor.ts";
import { type LineScales, scaleAt } from "./block-scales.ts";

/** The scales of the rows of A and the columns of B. */
export type ProductScales = readonly [LineScales, LineScales];

/**
 * The accumulator after `k` products of elements of a row and a column have been added to it. `scales` are those of
 * products by groups, and of exact sums; in sums of other rules elements have been scaled.
 */
export function addProducts(
  left: TensorLine,
  right: TensorLine,
  k: number,
  start: number,
  rule: ProductRule,
  scales: ProductScales | null = null,
): number {
  const [i, j] = [left.at, right.at];
  let total = start;
  switch (rule.kind) {
    case "sum":
      return sumOfProducts(left, right, k, start, rule.sum);
    case "exact":
      return exactSum(exactTerms(left, right, k, start, scales));
    case "groups":
      return sumOfScaledGroups(left, right, k, scales!, start);
    case "chain":
      for (let e = 0; e < k; e++) total = fma64(left.values[i + e]!, right.values[j + e]!, total, rule.rounding);
      return total;
    case "integer":
      for (let e = 0; e < k; e++) total += left.values[i + e]! * right.values[j + e]!;
      return rule.saturates ? Math.min(Math.max(total, -0x8000_0000), 0x7fff_ffff) : total;
    case "bits": {
      const both = rule.combine === "and" ? 2 : 1;
      for (let e = 0; e < k; e++) if (left.values[i + e]! + right.values[j + e]! === both) total++;
      return total;
    }
  }
}

/** The accumulator and all products, scaled. */
function* exactTerms(
  { values: left, at: i }: TensorLine,
  { values: right, at: j }: TensorLine,
  k: number,
  start: number,
  scales: ProductScales | null,
): Iterable<number> {
  yield start;
  for (let e = 0; e < k; e++) {
    const scale = scales === null ? 1 : scaleAt(scales[0], e, k) * scaleAt(scales[1], e, k);
    yield left[i + e]! * right[j + e]! * scale;
  }
}
