import type { Expr } from "../semantics/index.ts";
import type { Analysis } from "./analysis.ts";

/**
 * Whether a value follows from the numbers of the lanes by arithmetic alone. Addresses that do are often those of neighbours,
 * where what has been loaded could be anything.
 */
export function isComputed({ code: { instructions }, register }: Analysis, expr: Expr): boolean {
  const seen = new Set<number | Expr>();
  const isGood = (e: Expr): boolean => {
    switch (e.kind) {
      case "const":
      case "special":
      case "frame":
        return true;
      case "prim":
        if (seen.has(e)) return true;
        seen.add(e);
        return e.args.every(isGood);
      case "reg":
        return register(e.reg).kind === "uniform" || isWellWritten(e.reg);
      default:
        return false;
    }
  };
  const isWellWritten = (r: number): boolean => {
    if (seen.has(r)) return true;
    seen.add(r);
    return instructions.every(({ op, dst }) =>
      dst.every((to, i) => to !== r || (op.kind === "pure" && isGood(op.values[i]!))),
    );
  };
  return isGood(expr);
}
