import { firstMetadataLane, type MatrixProduct, metadataLanes, type Sparsity } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import type { OperandAccess, Step } from "../define.ts";

type Variant = "sp" | "sp::ordered_metadata";

/** The sparsity of a product whose operands `e` and `f` are metadata and selector, and the steps that check them. */
export function sparseSteps(
  product: MatrixProduct,
  variant: Variant,
  ops: OperandAccess,
): { readonly sparsity: Sparsity; readonly operands: readonly Expr[]; readonly checks: readonly Step[] } {
  const chunk = product.bits === 32 ? 2 : product.bits === 4 ? 8 : 4;
  const sparsity: Sparsity = { chunk, selector: Number(ops.constant("f") ?? 0) };
  const operands = ops.vector("e");
  return { sparsity, operands, checks: [check({ ...product, sparsity }, operands[0]!, variant)] };
}

/** Ends the launch in lanes whose metadata has indices that the manual does not allow. */
function check(product: MatrixProduct & { readonly sparsity: Sparsity }, e: Expr, variant: Variant): Step {
  const { chunk, selector } = product.sparsity;
  const lanes = metadataLanes(product);
  if (selector >= 4 / lanes) {
    const wanted = lanes === 4 ? "0" : "0 or 1";
    return refusal(kit.pred(true), `the sparsity selector is ${selector}, and for this shape it must be ${wanted}`);
  }
  const first = firstMetadataLane(product);
  const lane = kit.and({ kind: "special", ty: "i32", name: "laneid" }, kit.i32(3));
  const isOwn = kit.lt(kit.sub(lane, kit.i32(first)), kit.i32(lanes), false);
  const isValid = kit.eq(kit.and(validIndices(e, chunk, variant), lowestBits), lowestBits);
  const allowed =
    chunk === 2
      ? "0b0100 and 0b1110 are allowed for '.tf32'"
      : variant === "sp"
        ? "0b0000, 0b0101, 0b1010 and 0b1111 are not allowed"
        : "the two indices of each chunk must differ, the lower one first";
  return refusal(kit.and(isOwn, kit.not(isValid)), `the metadata of a sparse matrix has wrong indices: ${allowed}`);
}

const refusal = (where: Expr, message: string): Step => ({
  op: { kind: "trap", fault: { code: "sparse-bad-metadata", message } },
  dst: [],
  where,
});

/** The lowest bit of each four. */
const lowestBits = kit.i32(0x1111_1111);

/** Whether the four bits of each chunk are valid, in the lowest bit of the four. */
function validIndices(e: Expr, chunk: number, variant: Variant): Expr {
  const bit = (n: number): Expr => (n === 0 ? e : kit.shr(e, kit.i32(n), false));
  const [low0, low1, high0, high1] = [bit(0), bit(1), bit(2), bit(3)];
  const differ1 = kit.xor(low1, high1);
  if (chunk === 2) return kit.and(kit.and(kit.not(low0), high0), kit.not(differ1));
  if (variant === "sp") return kit.or(kit.xor(low0, high0), differ1);
  const greater0 = kit.and(kit.and(high0, kit.not(low0)), kit.not(differ1));
  return kit.or(kit.and(high1, kit.not(low1)), greater0);
}
