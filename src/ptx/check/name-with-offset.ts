import type { Expression, NameExpr } from "../tree/nodes.ts";
import { constantClass } from "./immediate.ts";

/** What is wrong with an offset elsewhere, and what helps. */
export const offsetShape = [
  "an offset goes after the name",
  "write `name+4`, or `name+-4` for a negative offset",
] as const;

/** Whether an expression is `a`, `a+4` or `a+4+4`, the forms of an address that ptxas accepts (6.4.1). */
export function isNameWithOffset(expr: Expression): boolean {
  let at = expr;
  while (at.kind === "binary") {
    if (at.operator !== "+" || constantClass(at.right) !== "integer") return false;
    at = at.left;
  }
  return at.kind === "name";
}

/** The name at the beginning of a sum, or null. */
export function baseName(expr: Expression): NameExpr | null {
  let at = expr;
  while (at.kind === "binary") at = at.left;
  return at.kind === "name" ? at : null;
}
