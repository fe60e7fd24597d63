import type { Expr } from "./expr.ts";
import { primOf } from "./prims/index.ts";
import type { Value } from "./types.ts";

/** Returns the value of a leaf that is not a constant. */
export type LeafValue = (leaf: Exclude<Expr, { kind: "prim" | "const" }>) => Value;

/**
 * Evaluates an expression in the simplest possible way; the faster engines are compared with this. Shared parts are
 * computed once.
 */
export function fold(expr: Expr, leaf: LeafValue, memo: Map<Expr, Value> = new Map()): Value {
  if (expr.kind === "const") return expr.value;
  const known = memo.get(expr);
  if (known !== undefined) return known;
  const value =
    expr.kind === "prim"
      ? (primOf(expr.prim).eval as (...args: Value[]) => Value)(...expr.args.map((a) => fold(a, leaf, memo)))
      : leaf(expr);
  memo.set(expr, value);
  return value;
}
