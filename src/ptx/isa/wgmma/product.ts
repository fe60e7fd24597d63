import { type ElementFormat, type MatrixProduct, sparseShapeOf, type WarpgroupProduct } from "../../../ir/index.ts";
import { type TensorFormat, warpgroupSum } from "../../../numeric/tensor.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import type { OperandAccess, Step } from "../define.ts";
import { elementBits, shapeOf } from "../matrix/fragment.ts";
import { metadataCheck } from "../matrix/sparse-steps.ts";
import { align } from "../matrix/steps.ts";

/** The modifiers that say what is multiplied. */
export interface ProductModifiers {
  readonly shape: string;
  readonly dtype?: string;
  readonly atype?: string;
  readonly btype?: string;
  readonly satfinite?: boolean;
}

/** The operands that are no vectors; `a_desc` and `sp_meta` where the form has them. */
export type ProductSources = Readonly<Record<string, Expr | undefined>>;

const integers: readonly string[] = ["s8", "u8"];

function ruleOf(a: ElementFormat, k: number, m: ProductModifiers): MatrixProduct["rule"] {
  if (a === "b1") return { kind: "bits", combine: "and" };
  if (integers.includes(a)) return { kind: "integer", saturates: m.satfinite === true };
  return { kind: "sum", sum: warpgroupSum(a as TensorFormat, k, m.dtype === "f16") };
}

/**
 * The steps of `wgmma.mma_async`. `type`: the format of A and B, if no modifier names it. Where scale-d is false, C is
 * zeros.
 */
export function warpgroupMultiplication(
  type: ElementFormat | null,
  source: ProductSources,
  m: ProductModifiers,
  ops: OperandAccess,
): Step[] {
  const product = productOf(type, m, ops);
  const { b_desc: b, a_desc: a = kit.i64(0n), sp_meta: metadata = kit.i32(0), scale_d: scale } = source;
  const kept = ops.constant("scale_d");
  const zero = kit.i32(0);
  const c = ops.previous("d").map((register) => {
    if (kept === null) return kit.select(scale!, register, zero);
    return Number(kept) === 0 ? zero : register;
  });
  const accumulates = kept === null ? kit.select(scale!, kit.i32(1), zero) : kit.i32(Number(kept));
  const operands = [b!, a, accumulates, metadata, ...ops.vector("a"), ...c];
  const checks =
    product.sparsity === null ? [] : [metadataCheck(sparseShapeOf(product, product.sparsity), metadata, "sp")];
  return [align, ...checks, { op: { kind: "unit", unit: { op: "multiply-warpgroup", product }, operands } }];
}

function productOf(type: ElementFormat | null, m: ProductModifiers, ops: OperandAccess): WarpgroupProduct {
  const { n, k: depth } = shapeOf(m.shape);
  const isSparse = ops.has("sp_meta");
  const k = isSparse ? depth / 2 : depth;
  const a = (type ?? m.atype) as ElementFormat;
  const d = (m.dtype ?? "s32") as ElementFormat;
  const constant = (name: string): number => Number(ops.constant(name) ?? 0);
  return shared({
    tile: {
      ...{ m: 16, n, k, a, b: (type ?? m.btype) as ElementFormat, c: d, d, bits: elementBits(a) },
      rule: ruleOf(a, k, m),
      fragments: { kind: "whole" },
    },
    left: ops.has("a") ? { kind: "registers" } : { kind: "shared", kMajor: constant("imm_trans_a") === 0 },
    right: { kMajor: constant("imm_trans_b") === 0 },
    negate: { a: constant("imm_scale_a") < 0, b: constant("imm_scale_b") < 0 },
    sparsity: isSparse ? { chunk: a === "tf32" ? 2 : 4, selector: constant("sp_sel") } : null,
  });
}

const known = new Map<string, WarpgroupProduct>();

/** One object for products that are the same, as fragments are found by it. */
function shared(product: WarpgroupProduct): WarpgroupProduct {
  const key = JSON.stringify(product);
  const found = known.get(key) ?? product;
  known.set(key, found);
  return found;
}
