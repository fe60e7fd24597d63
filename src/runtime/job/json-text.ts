import type { SourceText, Span } from "../../source/index.ts";

/**
 * A JSON value with its place in the text. `JSON.parse` would round 64-bit integers, reject the NaN and Infinity that
 * Python's `json` writes, and could not tell where a value stands.
 */
export type JsonNode = Span &
  (
    | { readonly kind: "null" }
    | { readonly kind: "boolean"; readonly value: boolean }
    /** `value` is a bigint for integers that a number cannot hold exactly. */
    | { readonly kind: "number"; readonly value: number | bigint }
    | { readonly kind: "string"; readonly value: string }
    | { readonly kind: "array"; readonly items: readonly JsonNode[] }
    | { readonly kind: "object"; readonly members: ReadonlyMap<string, JsonMember> }
  );

interface JsonMember {
  readonly key: Span;
  readonly value: JsonNode;
}

export interface JsonProblem {
  readonly message: string;
  readonly span: Span;
}

const maxDepth = 200;

class Malformed extends Error {
  readonly span: Span;

  constructor(message: string, start: number, end: number = start) {
    super(message);
    this.span = { start, end };
  }
}

/** Parses a text in one pass. Throws `Malformed` at the first syntax error. */
class Reader {
  readonly text: string;
  at = 0;
  readonly #number = /-?(?:(\d+)(\.\d+)?([eE][+-]?\d+)?|Infinity)|NaN/y;
  readonly #space = /[ \t\r\n]*/y;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
  readonly #string = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

  constructor(text: string) {
    this.text = text;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match;
  }

  #takes(character: string): boolean {
    this.#match(this.#space);
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  #expected(what: string): Malformed {
    const found =
      this.at < this.text.length ? `\`${String.fromCodePoint(this.text.codePointAt(this.at)!)}\`` : "the end";
    return new Malformed(`expected ${what}, found ${found}`, this.at, Math.min(this.at + 1, this.text.length));
  }

  document(): JsonNode {
    if (this.text.startsWith("\ufeff")) this.at = 1;
    const node = this.value(0);
    this.#match(this.#space);
    if (this.at < this.text.length) throw this.#expected("the end of the text");
    return node;
  }

  value(depth: number): JsonNode {
    this.#match(this.#space);
    if (depth > maxDepth) throw new Malformed(`nested deeper than ${maxDepth} levels`, this.at);
    const start = this.at;
    switch (this.text[start]) {
      case "{":
        return { start, kind: "object", members: this.#members(depth), end: this.at };
      case "[":
        return { start, kind: "array", items: this.#items(depth), end: this.at };
      case '"':
        return { start, kind: "string", value: this.#quoted(), end: this.at };
    }
    for (const [word, value] of [
      ["true", true],
      ["false", false],
    ] as const) {
      if (this.text.startsWith(word, start)) return { start, kind: "boolean", value, end: (this.at += word.length) };
    }
    if (this.text.startsWith("null", start)) return { start, kind: "null", end: (this.at += 4) };
    const number = this.#match(this.#number);
    if (!number) throw this.#expected("a value");
    return { start, kind: "number", value: numberOf(number), end: this.at };
  }

  #quoted(): string {
    const start = this.at;
    const match = this.#match(this.#string);
    if (!match) {
      const line = this.text.indexOf("\n", start);
      throw new Malformed(
        "this string is not closed, or has a wrong escape",
        start,
        line < 0 ? this.text.length : line,
      );
    }
    return JSON.parse(match[0]) as string;
  }

  #members(depth: number): Map<string, JsonMember> {
    const members = new Map<string, JsonMember>();
    this.at++;
    if (this.#takes("}")) return members;
    do {
      this.#match(this.#space);
      const start = this.at;
      if (this.text[start] !== '"') throw this.#expected("a name in quotes");
      const name = this.#quoted();
      const key = { start, end: this.at };
      if (members.has(name)) throw new Malformed(`"${name}" is given twice`, key.start, key.end);
      if (!this.#takes(":")) throw this.#expected("`:`");
      members.set(name, { key, value: this.value(depth + 1) });
    } while (this.#takes(","));
    if (!this.#takes("}")) throw this.#expected("`,` or `}`");
    return members;
  }

  #items(depth: number): JsonNode[] {
    const items: JsonNode[] = [];
    this.at++;
    if (this.#takes("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.#takes(","));
    if (!this.#takes("]")) throw this.#expected("`,` or `]`");
    return items;
  }
}

function numberOf([text, integer, fraction, exponent]: RegExpExecArray): number | bigint {
  const value = Number(text);
  if (integer === undefined || fraction !== undefined || exponent !== undefined) return value;
  // No buffer holds integers with so many digits, and converting them to a bigint takes quadratic time.
  return Number.isSafeInteger(value) || integer.length > 40 ? value : BigInt(text);
}

/** Parses a JSON text. Returns either its root or the first problem; never throws. */
export function parseJson(source: SourceText): {
  readonly root: JsonNode | null;
  readonly problem: JsonProblem | null;
} {
  try {
    return { root: new Reader(source.text).document(), problem: null };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return { root: null, problem: { message: error.message, span: error.span } };
  }
}
