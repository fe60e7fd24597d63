import { sourceText } from "../source/source-text.ts";
import { formatValue } from "../view/value.ts";
import { evaluate, evaluateTyped } from "./evaluate.ts";
import { parseExpression } from "./parse.ts";
import type { Scope } from "./scope.ts";
import { ExpressionError } from "./tree.ts";

/** Replaces the expressions in braces in a text by their values. */
export const filledIn = (text: string, scope: Scope): string =>
  text.replace(/\{([^{}]*)\}/g, (_, expression: string) => valueText(expression, scope));

function valueText(text: string, scope: Scope): string {
  try {
    const expression = parseExpression(text);
    const typed = evaluateTyped(expression, scope);
    return typed === null ? formatValue(evaluate(expression, scope)) : sourceText(typed);
  } catch (error) {
    if (error instanceof ExpressionError) return `<${error.message}>`;
    throw error;
  }
}
