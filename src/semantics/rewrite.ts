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

/** Results that are looked for one by one: most instructions have no more expressions, and a map costs more. */
const fewResults = 12;

/** What has been found for expressions. */
export class ExprResults<T> {
  readonly #exprs: Expr[] = [];
  readonly #results: T[] = [];
  #many: Map<Expr, T> | null = null;

  get(expr: Expr): T | undefined {
    if (this.#many !== null) return this.#many.get(expr);
    const at = this.#exprs.indexOf(expr);
    return at < 0 ? undefined : this.#results[at];
  }

  /** Sets what has been found for an expression that has no result yet. */
  set(expr: Expr, result: T): void {
    if (this.#many === null && this.#exprs.length < fewResults) {
      this.#exprs.push(expr);
      this.#results.push(result);
      return;
    }
    this.#many ??= new Map(this.#exprs.map((known, i) => [known, this.#results[i]!]));
    this.#many.set(expr, result);
  }
}

/**
 * The function of expressions that `compute` describes: it is given an expression, and the function itself for the
 * expression's parts. A part that is shared is computed once.
 */
export function onceForEach<T>(compute: (expr: Expr, resultFor: (part: Expr) => T) => T): (expr: Expr) => T {
  const known = new ExprResults<T>();
  const resultFor = (expr: Expr): T => {
    let value = known.get(expr);
    if (value === undefined) known.set(expr, (value = compute(expr, resultFor)));
    return value;
  };
  return resultFor;
}

/** Replaces the leaves of an expression. Shared parts stay shared, and an unchanged part is the same object. */
export function rewriteLeaves(expr: Expr, leaf: (leaf: Expr) => Expr, memo: ExprResults<Expr>): Expr {
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
