import type { Expr } from "./expr.ts";

/** What a function makes of the elements of a list: the list itself where that is what they are. */
export function mapChanged<T>(list: readonly T[], f: (element: T) => T): readonly T[] {
  let changed: T[] | null = null;
  for (let i = 0; i < list.length; i++) {
    const old = list[i]!;
    const element = f(old);
    if (element === old) continue;
    changed ??= [...list];
    changed[i] = element;
  }
  return changed ?? list;
}

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
    const args = mapChanged(expr.args, (a) => rewriteLeaves(a, leaf, memo));
    if (args !== expr.args) result = { ...expr, args };
  }
  memo.set(expr, result);
  return result;
}
