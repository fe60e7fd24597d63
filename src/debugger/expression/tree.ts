/** Half-open, in UTF-16 units of the expression's text. */
export interface ExpressionSpan {
  readonly start: number;
  readonly end: number;
}

/** An expression cannot be understood, or has no value where it is asked for. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly text: string;
  readonly span: ExpressionSpan;

  constructor(message: string, text: string, span: ExpressionSpan) {
    super(message);
    this.text = text;
    this.span = span;
  }

  /** The text with the place underlined, and what is wrong. */
  get frame(): string {
    const { start, end } = this.span;
    return `${this.message}\n  ${this.text}\n  ${" ".repeat(start)}${"^".repeat(Math.max(1, end - start))}`;
  }
}

export const binaryOperators = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<=", ">=", "<", ">"],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
] as const;
export type BinaryOperator = (typeof binaryOperators)[number][number];
export type UnaryOperator = "-" | "!" | "~";

/** `:type` behind a name or an access reads the same bits as another type. */
export type ExpressionNode = { readonly span: ExpressionSpan } & (
  | { readonly kind: "number"; readonly value: number | bigint }
  | { readonly kind: "name"; readonly name: string; readonly type: string | null }
  /** An element of a variable that has several. */
  | { readonly kind: "element"; readonly name: string; readonly index: ExpressionNode; readonly type: string | null }
  | { readonly kind: "memory"; readonly address: ExpressionNode; readonly type: string | null }
  | { readonly kind: "unary"; readonly operator: UnaryOperator; readonly operand: ExpressionNode }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: ExpressionNode;
      readonly right: ExpressionNode;
    }
);

export interface Expression {
  readonly text: string;
  readonly root: ExpressionNode;
}
