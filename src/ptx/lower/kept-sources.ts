import { type Destination, mapOpOperands, type Op } from "../../ir/index.ts";
import { type Expr, ExprResults, rewriteLeaves } from "../../semantics/index.ts";
import type { RegisterFile } from "./registers.ts";

interface LoweredStep {
  readonly op: Op;
  readonly dst: readonly Destination[];
  readonly where: Expr | null;
}

/**
 * The copies that an instruction of several steps makes before the first of them, or null, and its steps: they read its
 * sources as they were before it, also where it overwrites them. `own`: its destinations.
 */
export function keepSources<S extends LoweredStep>(
  steps: readonly S[],
  own: readonly Destination[],
  registers: RegisterFile,
): {
  readonly copies: { readonly from: readonly Expr[]; readonly to: readonly number[] } | null;
  readonly steps: readonly S[];
} {
  if (steps.length === 1) return { copies: null, steps };
  const destinations = new Set(own);
  const overwritten = new Set<number>();
  const copied = new Map<number, number>();
  const keep = (expr: Expr): Expr => {
    if (expr.kind !== "reg" || !overwritten.has(expr.reg)) return expr;
    const copy = registers.copyOf(expr.reg);
    copied.set(expr.reg, copy);
    return { ...expr, reg: copy };
  };
  const kept = steps.map((step): S => {
    const memo = new ExprResults<Expr>();
    const rewrite = (expr: Expr): Expr => rewriteLeaves(expr, keep, memo);
    const found =
      overwritten.size === 0
        ? step
        : { ...step, op: mapOpOperands(step.op, rewrite), where: step.where && rewrite(step.where) };
    for (const to of step.dst) if (typeof to === "number" && destinations.has(to)) overwritten.add(to);
    return found;
  });
  if (copied.size === 0) return { copies: null, steps: kept };
  const from = [...copied.keys()].map((reg): Expr => ({ kind: "reg", ty: registers.typeOf(reg), reg }));
  return { copies: { from, to: [...copied.values()] }, steps: kept };
}
