import type { Expr } from "./expr.ts";

/** Maps a list; the result is the list itself if no element changes. */
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

/**
 * The function of expressions that `compute` describes: it is given an expression and the function itself, for the
 * parts of it. A part that is shared is computed once.
 */
export function onceForEach<T>(compute: (expr: Expr, resultFor: (part: Expr) => T) => T): (expr: Expr) => T {
  const known = new Map<Expr, T>();
  const resultFor = (expr: Expr): T => {
    let value = known.get(expr);
    if (value === undefined) known.set(expr, (value = compute(expr, resultFor)));
    return value;
  };
  return resultFor;
}

/** Replaces the leaves of an expression. Shared parts stay shared, and an unchanged part is the same object. */
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
