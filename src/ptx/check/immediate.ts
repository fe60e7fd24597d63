import type { Expression } from "../tree.ts";

/** What sort of constant an expression in operand position is. Errors inside it are the constant evaluator's business. */
export type ConstantClass = "integer" | "float" | "address" | "negated-register";

export function constantClass(expr: Expression): ConstantClass {
  switch (expr.kind) {
    case "integer":
      return "integer";
    case "float":
      return "float";
    case "name":
      return expr.symbol === null || expr.symbol.kind === "constant" ? "integer" : "address";
    case "parenthesized":
      return constantClass(expr.inner);
    case "unary": {
      const inner = constantClass(expr.operand);
      return inner === "address" ? "negated-register" : expr.operator.startsWith("(") ? "integer" : inner;
    }
    case "binary": {
      const left = constantClass(expr.left);
      const right = constantClass(expr.right);
      if (left === "address" || right === "address") return "address";
      if (left === "negated-register" || right === "negated-register") return "negated-register";
      const comparison = /^([<>]=?|[=!]=|&&|\|\|)$/.test(expr.operator);
      return !comparison && (left === "float" || right === "float") ? "float" : "integer";
    }
    case "conditional":
      return constantClass(expr.then);
    case "operator-call":
      return "address";
  }
}

/** The value of a plain integer constant, for range checks; null for anything that needs the full evaluator. */
export function foldInteger(expr: Expression): bigint | null {
  switch (expr.kind) {
    case "integer":
      return expr.unsigned ? expr.value : BigInt.asIntN(64, expr.value);
    case "parenthesized":
      return foldInteger(expr.inner);
    case "unary": {
      const inner = foldInteger(expr.operand);
      return inner === null ? null : expr.operator === "-" ? -inner : expr.operator === "+" ? inner : null;
    }
    default:
      return null;
  }
}
