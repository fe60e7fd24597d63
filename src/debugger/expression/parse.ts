import { shapeOf } from "../view/value.ts";
import {
  type BinaryOperator,
  binaryOperators,
  type Expression,
  ExpressionError,
  type ExpressionNode,
  type ExpressionSpan,
  type UnaryOperator,
} from "./tree.ts";

interface Token extends ExpressionSpan {
  readonly kind: "number" | "name" | "operator" | "end";
  readonly text: string;
}

/** A register's name may hold dots (`%tid.x`) and, where there are two of the name, a number (`%r1#2`). */
const tokens =
  /\s*(?:(0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([%$_A-Za-z][\w$]*(?:\.[A-Za-z_]\w*)*(?:#\d+)?)|(\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%&|^~!<>()[\]:]))/y;

const deepest = 64;

/** Reads an expression. Throws an ExpressionError with the place of what cannot be understood. */
export function parseExpression(text: string): Expression {
  const parser = new Parser(text);
  return { text, root: parser.whole() };
}

class Parser {
  readonly #text: string;
  #at = 0;
  #token: Token;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#token = this.#read(true);
  }

  whole(): ExpressionNode {
    const root = this.#binary(0);
    if (this.#token.kind !== "end") throw this.#error("expected an operator");
    return root;
  }

  /** `%` is a part of a name where a value is expected, and an operator behind one. */
  #read(expectsValue: boolean): Token {
    tokens.lastIndex = this.#at;
    const found = tokens.exec(this.#text);
    if (found === null) {
      const rest = this.#text.slice(this.#at).trimStart();
      const start = this.#text.length - rest.length;
      if (rest !== "") {
        throw new ExpressionError(`${JSON.stringify(rest[0])} has no meaning here`, this.#text, {
          start,
          end: start + 1,
        });
      }
      return { kind: "end", text: "the end", start, end: start };
    }
    const [whole, number, name, operator] = found;
    let text = number ?? name ?? operator!;
    const start = this.#at + whole.length - text.length;
    const isRemainder = !expectsValue && text.startsWith("%");
    if (isRemainder) text = "%";
    this.#at = start + text.length;
    const kind = number !== undefined ? "number" : name !== undefined && !isRemainder ? "name" : "operator";
    return { kind, text, start, end: this.#at };
  }

  /** Takes the token; what follows it is a value, or an operator. */
  #take(expectsValue: boolean): Token {
    const token = this.#token;
    this.#token = this.#read(expectsValue);
    return token;
  }

  #binary(level: number): ExpressionNode {
    const operators: readonly string[] | undefined = binaryOperators[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    while (this.#token.kind === "operator" && operators.includes(this.#token.text)) {
      const operator = this.#take(true).text as BinaryOperator;
      const right = this.#binary(level + 1);
      left = { kind: "binary", operator, left, right, span: { start: left.span.start, end: right.span.end } };
    }
    return left;
  }

  #unary(): ExpressionNode {
    const { kind, text, start } = this.#token;
    if (kind !== "operator" || !["-", "!", "~"].includes(text)) return this.#primary();
    this.#deeper();
    this.#take(true);
    const operand = this.#unary();
    this.#depth--;
    return { kind: "unary", operator: text as UnaryOperator, operand, span: { start, end: operand.span.end } };
  }

  #deeper(): void {
    if (++this.#depth > deepest) throw this.#error(`more than ${deepest} levels`);
  }

  #primary(): ExpressionNode {
    const { kind, text, start, end } = this.#token;
    if (kind === "number") {
      const isWhole = /^(0[xX]|\d+$)/.test(text);
      if (isWhole && BigInt(text) >= 2n ** 64n) throw this.#error("a number of more than 64 bits");
      this.#take(false);
      return { kind: "number", value: isWhole ? BigInt(text) : Number(text), span: { start, end } };
    }
    if (kind === "name") {
      this.#take(false);
      if (this.#token.text === "[") {
        const index = this.#bracketed();
        const type = this.#type();
        return { kind: "element", name: text, index, type, span: { start, end: this.#token.start } };
      }
      return { kind: "name", name: text, type: this.#type(), span: { start, end } };
    }
    if (text === "[") {
      const address = this.#bracketed();
      const closed = this.#token.start;
      return { kind: "memory", address, type: this.#type(), span: { start, end: closed } };
    }
    if (text === "(") {
      this.#deeper();
      this.#take(true);
      const inner = this.#binary(0);
      this.#expect(")");
      this.#depth--;
      return inner;
    }
    throw this.#error(kind === "end" ? "expected a value, and the expression ends" : "expected a value");
  }

  #bracketed(): ExpressionNode {
    this.#deeper();
    this.#take(true);
    const inner = this.#binary(0);
    this.#expect("]");
    this.#depth--;
    return inner;
  }

  #expect(text: string): void {
    if (this.#token.text !== text) throw this.#error(`expected ${text}`);
    this.#take(false);
  }

  #type(): string | null {
    if (this.#token.text !== ":") return null;
    this.#take(true);
    const text: string = this.#token.text;
    if (text !== "pred" && shapeOf(text) === null) throw this.#error("expected a type, as in u32, f16x2 or b64");
    this.#take(false);
    return text;
  }

  #error(message: string): ExpressionError {
    const { start, end } = this.#token;
    return new ExpressionError(message, this.#text, { start, end });
  }
}
