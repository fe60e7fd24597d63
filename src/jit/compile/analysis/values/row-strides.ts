import type { Expr } from "../../../../semantics/index.ts";
import type { Invariants } from "./invariant-code.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/**
 * How what is computed before a chunk begins goes on in the chunks behind it, where the block is one row: it is the same in all of
 * them; what grows by a number from lane to lane does so beyond the chunk's last lane, too; or it may be anything.
 */
export type RowStride = "same" | "growing" | "other";

/** Tells of expressions over registers and special registers how they go on. */
export function rowStridesOf(analysis: UniformityAnalysis, hoisted: Invariants): (expr: Expr) => RowStride {
  const known = new Map<number, RowStride>();
  const of = (expr: Expr): RowStride => {
    switch (expr.kind) {
      case "const":
        return "same";
      case "reg":
        return known.get(expr.reg) ?? "other";
      case "special":
        if (expr.name === "tid.x") return "growing";
        return /^(ntid|nctaid|ctaid)\./.test(expr.name) ? "same" : "other";
      case "prim":
        break;
      default:
        return "other";
    }
    const args = expr.args.map(of);
    if (args.includes("other")) return "other";
    if (!args.includes("growing")) return "same";
    if (!/^i(32|64)\.(add|sub|mul|shl)$|^i64\.extend_i32_[su]$|^i32\.wrap_i64$/.test(expr.prim)) return "other";
    const found = analysis.shape(expr);
    return found.kind === "affine" || (found.kind === "indexed" && found.stride !== null) ? "growing" : "other";
  };
  const note = (list: readonly number[], along: (value: Expr | null) => RowStride): void => {
    for (const i of list) {
      const { op, dst } = analysis.code.instructions[i]!;
      dst.forEach((to, k) => {
        if (typeof to === "number") known.set(to, along(op.kind === "pure" ? op.values[k]! : null));
      });
    }
  };
  note([...hoisted.grid, ...hoisted.block], () => "same");
  note(hoisted.chunk, (value) => (value === null ? "other" : of(value)));
  return of;
}

/** Whether a predicate is made of what goes on along the row. `predicates`: by register, what they are. */
export function isKnown(expr: Expr, predicates: ReadonlyMap<number, Expr>, along: (expr: Expr) => RowStride): boolean {
  if (expr.ty !== "pred") return along(expr) !== "other";
  if (expr.kind === "reg") {
    const known = predicates.get(expr.reg);
    return known === undefined ? along(expr) === "same" : isKnown(known, predicates, along);
  }
  return expr.kind === "const" || (expr.kind === "prim" && expr.args.every((arg) => isKnown(arg, predicates, along)));
}
