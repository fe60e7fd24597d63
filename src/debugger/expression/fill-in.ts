import { formatValue } from "../view/value.ts";
import { evaluate } from "./evaluate.ts";
import { parseExpression } from "./parse.ts";
import type { Scope } from "./scope.ts";
import { ExpressionError } from "./tree.ts";

/** Replaces the expressions in braces in a text by their values. */
export const filledIn = (text: string, scope: Scope): string =>
  text.replace(/\{([^{}]*)\}/g, (_, expression: string) => valueText(expression, scope));

function valueText(text: string, scope: Scope): string {
  try {
    return formatValue(evaluate(parseExpression(text), scope));
  } catch (error) {
    if (error instanceof ExpressionError) return `<${error.message}>`;
    throw error;
  }
}
