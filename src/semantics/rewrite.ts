import type { Expr } from "./expr.ts";

/** The expression with other leaves; parts that are shared stay shared, and what does not change is the same object. */
export function rewriteLeaves(expr: Expr, leaf: (leaf: Expr) => Expr, memo: Map<Expr, Expr>): Expr {
  if (expr.kind !== "prim" && expr.kind !== "indirect") return leaf(expr);
  const known = memo.get(expr);
  if (known !== undefined) return known;
  let result: Expr = expr;
  if (expr.kind === "indirect") {
    const address = rewriteLeaves(expr.address, leaf, memo);
    if (address !== expr.address) result = { ...expr, address };
  } else {
    const args = expr.args.map((a) => rewriteLeaves(a, leaf, memo));
    if (args.some((a, i) => a !== expr.args[i])) result = { ...expr, args };
  }
  memo.set(expr, result);
  return result;
}
