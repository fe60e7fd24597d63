import type { Expr } from "./expr.ts";

/** An expression that computes nothing from others, or an element at a computed address. */
type Leaf = Exclude<Expr, { kind: "prim" }>;

/** Whether all leaves of an expression pass a test. */
export const everyLeaf = (expr: Expr, test: (leaf: Leaf) => boolean): boolean =>
  expr.kind === "prim" ? expr.args.every((arg) => everyLeaf(arg, test)) : test(expr);

/** The registers that an expression reads, each as often as it does. */
export function registersOf(expr: Expr): readonly number[] {
  if (expr.kind === "reg") return [expr.reg];
  return expr.kind === "prim" ? expr.args.flatMap(registersOf) : [];
}
