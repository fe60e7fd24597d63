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

const numbers = /0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?/;
/** Register names may contain dots (`%tid.x`) and, if the name is not unique, a number (`%r1#2`). */
const names = /[%$_A-Za-z][\w$]*(?:::[A-Za-z_]\w*)*(?:\.[A-Za-z_]\w*)*(?:#\d+)?/;
const operators = /\|\||&&|==|!=|<=|>=|<<|>>|->|[-+*/%&|^~!<>()[\]:.]/;
const tokens = new RegExp(`\\s*(?:(${numbers.source})|(${names.source})|(${operators.source}))`, "y");

/** The deepest nesting, so that no input can overflow the stack. */
const maxDepth = 64;

/** Parses an expression. Throws an ExpressionError with the place of the mistake. */
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

  /** `%` begins a name where a value is expected, and is an operator after a value. */
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

  /** Consumes the token; `expectsValue` says whether a value or an operator follows. */
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
    if (kind !== "operator" || !["-", "!", "~", "*", "&"].includes(text)) return this.#postfix(this.#primary());
    this.#deeper();
    this.#take(true);
    const operand = this.#unary();
    this.#depth--;
    if (text === "*" || text === "&") {
      return { kind: text === "*" ? "deref" : "address", operand, span: { start, end: operand.span.end } };
    }
    return { kind: "unary", operator: text as UnaryOperator, operand, span: { start, end: operand.span.end } };
  }

  /** `a[3]`, `a.b` and `p->b` after an expression; a name with one index or with members is a whole already. */
  #postfix(first: ExpressionNode): ExpressionNode {
    let base = first;
    for (let count = 0; this.#token.kind === "operator"; count++) {
      if (count > maxDepth) throw this.#error(`more than ${maxDepth} levels of members`);
      const { text } = this.#token;
      const { start } = first.span;
      if (text === "[") {
        const index = this.#enclosed("]");
        base = { kind: "index", base, index, span: { start, end: this.#token.start } };
      } else if (text === "." || text === "->") {
        this.#take(true);
        const { text: path, end } = this.#member();
        for (const name of path.split(".")) base = { kind: "member", base, name, span: { start, end } };
      } else break;
    }
    return base;
  }

  #member(): Token {
    if (this.#token.kind !== "name") throw this.#error("expected the name of a member");
    return this.#take(false);
  }

  #deeper(): void {
    if (++this.#depth > maxDepth) throw this.#error(`more than ${maxDepth} levels of nesting`);
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
        const index = this.#enclosed("]");
        const type = this.#type();
        return { kind: "element", name: text, index, type, span: { start, end: this.#token.start } };
      }
      return { kind: "name", name: text, type: this.#type(), span: { start, end } };
    }
    if (text === "[") {
      const address = this.#enclosed("]");
      const closed = this.#token.start;
      return { kind: "memory", address, type: this.#type(), span: { start, end: closed } };
    }
    if (text === "(") return this.#enclosed(")");
    throw this.#error(kind === "end" ? "expected a value, but the expression ends" : "expected a value");
  }

  /** The expression from the bracket at the cursor to the one that closes it. */
  #enclosed(close: ")" | "]"): ExpressionNode {
    this.#deeper();
    this.#take(true);
    const inner = this.#binary(0);
    this.#expect(close);
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
