import { codeOf, tokenLimit } from "./characters.ts";
import type { SourceText, Span } from "./source-text.ts";

/** The tokens of one character that the languages have in common, by the names of their kinds. */
const punctuation = {
  ",": "comma",
  ";": "semicolon",
  ":": "colon",
  "(": "leftParen",
  ")": "rightParen",
  "[": "leftBracket",
  "]": "rightBracket",
  "{": "leftBrace",
  "}": "rightBrace",
  "=": "assign",
  "?": "question",
  "!": "not",
  "~": "complement",
  "*": "star",
  "/": "slash",
  "%": "percent",
  "+": "plus",
  "-": "minus",
  "<": "less",
  ">": "greater",
  "&": "and",
  "^": "xor",
  "|": "or",
} as const;

/** The characters of which each is a token in every language. */
export const punctuationCharacters: string = Object.keys(punctuation).join("");

/**
 * Returns the kind of token that each ASCII character is on its own, or 0.
 *
 * @param kinds the language's kinds of tokens by name
 * @param more characters that are tokens in this language only
 */
export function tokenTable(
  kinds: Readonly<Record<(typeof punctuation)[keyof typeof punctuation], number>>,
  more: Readonly<Record<string, number>>,
): Uint8Array {
  const table = new Uint8Array(128);
  for (const [character, name] of Object.entries(punctuation)) table[codeOf(character)] = kinds[name];
  for (const [character, kind] of Object.entries(more)) table[codeOf(character)] = kind;
  return table;
}

const star = codeOf("*");
const slash = codeOf("/");
const quote = codeOf('"');
const backslash = codeOf("\\");
const newline = codeOf("\n");
const carriageReturn = codeOf("\r");

/**
 * The base of the lexers: the text, the token that was found last (`kind`, `start`, `end`), and the comments. Reading
 * stops where a text has too many of both.
 */
export abstract class Scanner<Kind extends number, CommentKind extends string> {
  readonly text: string;
  readonly comments: (Span & { readonly kind: CommentKind | "line" | "block" })[] = [];
  kind: Kind;
  start = 0;
  end = 0;
  /** The offset where reading stopped because the text has too many tokens, or null. */
  cut: number | null = null;
  /** Tokens and comments so far. */
  protected count = 0;
  readonly #endKind: Kind;

  /** `endKind`: the kind that stands for the end of the text. */
  constructor(source: SourceText, endKind: Kind) {
    this.text = source.text;
    this.kind = endKind;
    this.#endKind = endKind;
    // Skip a byte order mark.
    if (this.text.charCodeAt(0) === 0xfeff) this.end = 1;
  }

  /**
   * Where a string ends that begins at an offset: after its closing quote, or null if the line ends before. `escapes`:
   * whether a backslash takes away the meaning of the character after it.
   */
  protected stringEnd(at: number, escapes: boolean): number | null {
    const { text } = this;
    for (let end = at + 1; end < text.length; end++) {
      const c = text.charCodeAt(end);
      if (c === quote) return end + 1;
      if (c === newline) return null;
      if (escapes && c === backslash && text.charCodeAt(end + 1) !== newline) end++;
    }
    return null;
  }

  /** The end of the line, before its line break. */
  protected lineEnd(at: number): number {
    const found = this.text.indexOf("\n", at);
    if (found < 0) return this.text.length;
    return this.text.charCodeAt(found - 1) === carriageReturn ? found - 1 : found;
  }

  /** The first offset from `at` on whose character is not marked in a table. */
  protected follow(at: number, marked: Uint8Array): number {
    const { text } = this;
    while (marked[text.charCodeAt(at)] === 1) at++;
    return at;
  }

  /** Whether one more token or comment is too many. */
  protected isTooMany(): boolean {
    return ++this.count > tokenLimit;
  }

  /** Ends the text at the current token. */
  protected cutOff(): Kind {
    this.cut = this.start;
    this.end = this.text.length;
    this.start = this.end;
    return (this.kind = this.#endKind);
  }

  /** The kind of the comment that begins with a slash at an offset, or null. */
  protected commentAt(start: number): "line" | "block" | null {
    const second = this.text.charCodeAt(start + 1);
    return second === slash ? "line" : second === star ? "block" : null;
  }

  /**
   * The end of the block comment that begins at an offset; the end of the text, after a report, if it is not closed.
   */
  protected blockEnd(start: number): number {
    const close = this.text.indexOf("*/", start + 2);
    if (close >= 0) return close + 2;
    this.unclosedComment({ start, end: start + 2 });
    return this.text.length;
  }

  /** Reports a block comment that is never closed; `span` is its beginning. */
  protected abstract unclosedComment(span: Span): void;

  /** Keeps a comment and returns its end, or the end of the text if it is one too many. */
  protected keep(kind: CommentKind | "line" | "block", start: number, end: number): number {
    if (this.isTooMany()) {
      this.start = start;
      this.cutOff();
      return this.end;
    }
    this.comments.push({ kind, start, end });
    return end;
  }
}
