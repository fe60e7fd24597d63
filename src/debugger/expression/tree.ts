/** A half-open range of the expression's text, in UTF-16 units. */
export interface ExpressionSpan {
  readonly start: number;
  readonly end: number;
}

/** An expression is malformed, or has no value where it is evaluated. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  /** The whole expression. */
  readonly text: string;
  /** The place of the mistake in it. */
  readonly span: ExpressionSpan;

  constructor(message: string, text: string, span: ExpressionSpan) {
    super(message);
    this.text = text;
    this.span = span;
  }

  /** The message, and the text with the place underlined. */
  get frame(): string {
    const { start, end } = this.span;
    return `${this.message}\n  ${this.text}\n  ${" ".repeat(start)}${"^".repeat(Math.max(1, end - start))}`;
  }
}

/** The binary operators, from the loosest to the tightest level of precedence. */
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
/** A binary operator, as in C. @useDeclaredType */
export type BinaryOperator = (typeof binaryOperators)[number][number];
/** A unary operator, as in C. */
export type UnaryOperator = "-" | "!" | "~";

/** A node of a parsed expression. `:type` after a name or an access reads the same bits as another type. */
export type ExpressionNode = { readonly span: ExpressionSpan } & (
  | { readonly kind: "number"; readonly value: number | bigint }
  | { readonly kind: "name"; readonly name: string; readonly type: string | null }
  /** An element of a variable that holds several. */
  | { readonly kind: "element"; readonly name: string; readonly index: ExpressionNode; readonly type: string | null }
  | { readonly kind: "memory"; readonly address: ExpressionNode; readonly type: string | null }
  /** An element of an array or pointer of the source. */
  | { readonly kind: "index"; readonly base: ExpressionNode; readonly index: ExpressionNode }
  /** A member of a struct of the source, or of the one that a pointer points to. */
  | { readonly kind: "member"; readonly base: ExpressionNode; readonly name: string }
  /** `*p` and `&x` of the source. */
  | { readonly kind: "deref" | "address"; readonly operand: ExpressionNode }
  | { readonly kind: "unary"; readonly operator: UnaryOperator; readonly operand: ExpressionNode }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: ExpressionNode;
      readonly right: ExpressionNode;
    }
);

/** A parsed expression, independent of a function or a lane. */
export interface Expression {
  /** The expression as it was written. */
  readonly text: string;
  /** The parsed form. */
  readonly root: ExpressionNode;
}
