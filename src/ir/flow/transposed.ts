import { type Expr, ExprResults, mapChanged, rewriteLeaves, type SpecialName } from "../../semantics/index.ts";
import type { IrFunction } from "../module.ts";
import { mapOperands } from "../operands.ts";

/**
 * A kernel that takes x for y, and y for x, wherever it asks for numbers of threads and blocks: in a transposed grid
 * of transposed blocks, each thread does what another one does in the grid as it was.
 */
export function transposed(kernel: IrFunction): IrFunction {
  const memo = new ExprResults<Expr>();
  const rewrite = (expr: Expr): Expr => rewriteLeaves(expr, transposedLeaf, memo);
  return { ...kernel, instructions: mapChanged(kernel.instructions, (i) => mapOperands(i, rewrite)) };
}

function transposedLeaf(leaf: Expr): Expr {
  if (leaf.kind !== "special") return leaf;
  const [, of, direction] = /^(n?tid|n?ctaid)\.([xy])$/.exec(leaf.name) ?? [];
  return of === undefined ? leaf : { ...leaf, name: `${of}.${direction === "x" ? "y" : "x"}` as SpecialName };
}
