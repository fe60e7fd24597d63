import { characterTable, codeOf, digits, letters } from "../source/characters.ts";
import type { SourceText, Span } from "../source/index.ts";
import { Scanner, tokenTable } from "../source/scanner.ts";
import type { SyntaxCode } from "./codes-syntax.ts";

/** The kinds of tokens. `panic` is not a token: see `Cursor`. */
export const Token = {
  end: 0,
  panic: 1,
  /** `add`, `%r1`, `$L__BB0_2`, `_` */
  name: 2,
  /** `.reg`, `.u32` */
  directive: 3,
  number: 4,
  string: 5,
  /** A whole `@@DWARF` line. */
  dwarf: 6,
  /** Characters that cannot begin a token. */
  unknown: 7,
  comma: 8,
  semicolon: 9,
  colon: 10,
  leftParen: 11,
  rightParen: 12,
  leftBracket: 13,
  rightBracket: 14,
  leftBrace: 15,
  rightBrace: 16,
  at: 17,
  assign: 18,
  question: 19,
  not: 20,
  complement: 21,
  // Binary operators.
  star: 22,
  slash: 23,
  percent: 24,
  plus: 25,
  minus: 26,
  shiftLeft: 27,
  shiftRight: 28,
  less: 29,
  greater: 30,
  lessEqual: 31,
  greaterEqual: 32,
  equal: 33,
  notEqual: 34,
  and: 35,
  xor: 36,
  or: 37,
  logicalAnd: 38,
  logicalOr: 39,
} as const;

export type TokenKind = (typeof Token)[keyof typeof Token];

const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = codeOf('"');
const semicolon = codeOf(";");
const hash = codeOf("#");
const dot = codeOf(".");
const slash = codeOf("/");
const underscore = codeOf("_");

/**
 * Characters that may follow the first one of a name (4.4). A character past the table reads as undefined, which means
 * no.
 */
const followers = characterTable(`${letters}${digits}_$`);
const starters = characterTable(`${letters}_$%`);

/** Characters that are a name on their own: letters, and `_`, the sink. */
const alone = characterTable(`${letters}_`);
const decimals = characterTable(digits);

/** One-character tokens. */
const single = tokenTable(Token, { "@": Token.at });

/** Two-character tokens, indexed by `first << 7 | second`. */
const double = new Uint8Array(0x4000);
for (const [characters, kind] of Object.entries({
  "<<": Token.shiftLeft,
  "<=": Token.lessEqual,
  ">>": Token.shiftRight,
  ">=": Token.greaterEqual,
  "==": Token.equal,
  "!=": Token.notEqual,
  "&&": Token.logicalAnd,
  "||": Token.logicalOr,
})) {
  double[(codeOf(characters) << 7) | characters.charCodeAt(1)] = kind;
}

export type Report = (code: SyntaxCode, span: Span, message: string, help?: string) => void;

/**
 * Reads tokens one at a time: `next` advances, and `kind`, `start` and `end` describe the token found. Allocates only
 * the comments.
 */
export class Lexer extends Scanner<TokenKind, "preprocessor"> {
  /** Whether the token is the first on its line. */
  first = true;
  readonly #report: Report;

  constructor(source: SourceText, report: Report) {
    super(source, Token.end);
    this.#report = report;
  }

  next(): TokenKind {
    const { text } = this;
    this.#skipTrivia();
    const at = this.end;
    this.start = at;
    if (at >= text.length) return (this.kind = Token.end);
    if (this.isTooMany()) return this.cutOff();
    const c = text.charCodeAt(at);
    if (starters[c] === 1) {
      this.end = this.follow(at + 1, followers);
      if (this.end > at + 1 || alone[c] === 1) return (this.kind = Token.name);
    }
    if (decimals[c] === 1) return this.#number(at);
    if (c === dot) {
      const following = text.charCodeAt(at + 1);
      if (decimals[following] === 1) return this.#number(at);
      if (followers[following] !== 1) return (this.kind = this.#unknown(at));
      this.end = this.follow(at + 1, followers);
      return (this.kind = Token.directive);
    }
    if (c === quote) return this.#string(at);
    const kind = single[c];
    if (kind === undefined || kind === 0) return (this.kind = this.#unknown(at));
    if (kind === Token.at && text.startsWith("@@DWARF", at)) {
      this.end = this.lineEnd(at);
      return (this.kind = Token.dwarf);
    }
    const second = text.charCodeAt(at + 1);
    const longer = second < 128 ? double[(c << 7) | second]! : 0;
    this.end = longer === 0 ? at + 1 : at + 2;
    return (this.kind = (longer === 0 ? kind : longer) as TokenKind);
  }

  /**
   * Extends the name just found to the whole opcode: `ld` to `ld.global.L1::evict_last`, or to `ld.const[2]` with an
   * old bank.
   */
  extendOpcode(): void {
    const { text } = this;
    for (;;) {
      const c = text.charCodeAt(this.end);
      const separator = c === dot ? 1 : c === 0x3a && text.charCodeAt(this.end + 1) === 0x3a ? 2 : 0;
      if (separator === 0) break;
      const end = this.follow(this.end + separator, followers);
      if (end === this.end + separator) break;
      const bank = end - this.end === 6 && text.startsWith(".const[", this.end);
      this.end = bank ? this.#bank(end) : end;
    }
  }

  /** The first character after the token that is not a blank. */
  get following(): string {
    let at = this.end;
    while (isBlank(this.text.charCodeAt(at))) at++;
    return this.text.charAt(at);
  }

  #bank(open: number): number {
    const at = this.follow(open + 1, decimals);
    return at > open + 1 && this.text[at] === "]" ? at + 1 : open;
  }

  /** Takes the longest text that could be meant as a number; `literals.ts` decides what it means. */
  #number(at: number): TokenKind {
    const { text } = this;
    const marker = text.charCodeAt(at) === 0x30 ? text.charCodeAt(at + 1) | 0x20 : 0;
    const decimal = marker !== 0x78 && marker !== 0x62 && marker !== 0x64 && marker !== 0x66;
    let end = at;
    for (;;) {
      const c = text.charCodeAt(end);
      if (followers[c] === 1 || (decimal && c === dot)) end++;
      else if (decimal && (c === 0x2b || c === 0x2d) && (text.charCodeAt(end - 1) | 0x20) === 0x65) end++;
      else break;
    }
    this.end = end;
    return (this.kind = Token.number);
  }

  #string(at: number): TokenKind {
    const end = this.stringEnd(at, false);
    if (end !== null) this.end = end;
    else {
      this.#report(
        "ptx-unterminated-string",
        { start: at, end: at + 1 },
        "the string is not closed on its line",
        'end it with "',
      );
      this.end = this.lineEnd(at);
      if (this.text.charCodeAt(this.end - 1) === semicolon && this.end > at + 1) this.end--;
    }
    return (this.kind = Token.string);
  }

  #unknown(at: number): TokenKind {
    const { text } = this;
    let end = at + 1;
    while (end < text.length && !(text.charCodeAt(end) < 0x80)) end++;
    this.end = end;
    const shown = end - at === 1 ? `the character ${JSON.stringify(text[at])}` : "text that is not ASCII";
    this.#report("ptx-unknown-character", { start: at, end }, `${shown} cannot begin a PTX token`);
    return Token.unknown;
  }

  #skipTrivia(): void {
    const { text } = this;
    let at = this.end;
    let first = at === 0;
    for (;;) {
      const c = text.charCodeAt(at);
      if (c === newline) {
        first = true;
        at++;
      } else if (isBlank(c)) {
        at++;
      } else if (c === slash || (c === hash && first)) {
        const end = this.#comment(at, c);
        if (end === at) break;
        at = end;
        if (this.cut !== null) break;
      } else break;
    }
    this.first = first;
    this.end = at;
  }

  /** Records the comment that begins at `start` and returns its end; returns `start` if there is no comment. */
  #comment(start: number, c: number): number {
    const kind = c === hash ? "preprocessor" : this.commentAt(start);
    if (kind === null) return start;
    return this.keep(kind, start, kind === "block" ? this.blockEnd(start) : this.lineEnd(start));
  }

  protected unclosedComment(span: Span): void {
    this.#report("ptx-unterminated-comment", span, "the comment is never closed", "end it with */");
  }
}

const isBlank = (c: number): boolean =>
  c === space || c === tab || c === carriageReturn || c === newline || c === 0x0b || c === 0x0c;

/** Whether a name is `_` alone: a result that is discarded. */
export const isSink = (text: string): boolean => text.length === 1 && text.charCodeAt(0) === underscore;
