import type { Expression } from "../tree/nodes.ts";

/** The kinds of expression in operand position. */
export type ConstantClass = "integer" | "float" | "address" | "negated-register";

/** Classifies an expression in operand position by its form only; the constant evaluator reports errors inside it. */
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
