import { operandsOf } from "../../../../ir/flow/accesses.ts";
import type { Instruction } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";

/**
 * The registers whose bits are observed: as integers, in memory, in calls, as results. All others are only operands of
 * arithmetic, or moved to registers of that kind.
 */
export function observedBits(instructions: readonly Instruction[], results: readonly number[]): ReadonlySet<number> {
  const observed = new Set<number>();
  const sources = new Map<number, number[]>();
  // A chain of moves may be as long as there are registers: too long for recursion.
  const observe = (register: number): void => {
    const todo = [register];
    for (let r = todo.pop(); r !== undefined; r = todo.pop()) {
      if (observed.has(r)) continue;
      observed.add(r);
      todo.push(...(sources.get(r) ?? []));
    }
  };
  const seen = new Set<Expr>();
  const visit = (expr: Expr, isOperand: boolean): void => {
    if (expr.kind === "reg") {
      if (!isOperand || (expr.ty !== "f32" && expr.ty !== "f64")) observe(expr.reg);
    } else if (expr.kind === "prim" && !seen.has(expr)) {
      seen.add(expr);
      for (const arg of expr.args) visit(arg, true);
    }
  };
  for (const { op, dst } of instructions) {
    if (op.kind !== "pure") continue;
    op.values.forEach((value, i) => {
      const to = dst[i];
      if (value.kind !== "reg" || typeof to !== "number") return;
      const list = sources.get(to);
      if (list === undefined) sources.set(to, [value.reg]);
      else list.push(value.reg);
    });
  }
  for (const result of results) observe(result);
  for (const { op, dst } of instructions) {
    operandsOf(op).forEach((expr, i) => {
      const isMove = op.kind === "pure" && expr.kind === "reg" && typeof dst[i] === "number";
      if (!isMove) visit(expr, false);
      else if (observed.has(dst[i] as number)) observe((expr as { readonly reg: number }).reg);
    });
  }
  return observed;
}
