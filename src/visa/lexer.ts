import { characterTable, codeOf, digits, letters } from "../source/characters.ts";
import type { SourceText, Span } from "../source/index.ts";
import { punctuationCharacters, Scanner, tokenTable } from "../source/scanner.ts";
import type { SyntaxCode } from "./codes-syntax.ts";

/** Kinds of tokens. `panic` is not read from the text: see `Cursor`. */
export const Token = {
  end: 0,
  panic: 1,
  newline: 2,
  /** `V0032`, `%r0`, `add` */
  name: 3,
  /** `loop:` in the first column */
  label: 4,
  /** `12`, `0x1F`; the parser computes its value. */
  number: 5,
  /** `1.5`, `2e-3`: only before a colon, because `V.1` and `.version 3.6` contain a dot as well. */
  float: 6,
  string: 7,
  /** Characters that cannot begin a token. */
  unknown: 8,
  dot: 9,
  comma: 10,
  semicolon: 11,
  colon: 12,
  leftParen: 13,
  rightParen: 14,
  leftBracket: 15,
  rightBracket: 16,
  leftBrace: 17,
  rightBrace: 18,
  assign: 19,
  question: 20,
  not: 21,
  complement: 22,
  // From here on, binary operators.
  star: 23,
  slash: 24,
  percent: 25,
  plus: 26,
  minus: 27,
  shiftLeft: 28,
  shiftRight: 29,
  shiftRightUnsigned: 30,
  less: 31,
  greater: 32,
  lessEqual: 33,
  greaterEqual: 34,
  equal: 35,
  notEqual: 36,
  and: 37,
  xor: 38,
  or: 39,
} as const;
export type TokenKind = (typeof Token)[keyof typeof Token];

const newline = codeOf("\n");
const quote = codeOf('"');
const slash = codeOf("/");
const star = codeOf("*");
const dot = codeOf(".");
const backslash = codeOf("\\");
const percent = codeOf("%");
const colon = codeOf(":");

/** Characters that a name may begin with. */
const initials = `${letters}_`;

const starters = characterTable(initials);
const followers = characterTable(initials + digits);
const decimals = characterTable(digits);
const labelStarters = characterTable(`${initials}$@?`);
const labelFollowers = characterTable(`${initials}${digits}$@?-`);
/** Characters of a mnemonic's suffixes: `.sat`, `.16-full`, `.<RTI>`. */
const suffixFollowers = characterTable(`${initials}${digits}<>-`);
/** A carriage return, a form feed and a vertical tab count as spaces. */
const blanks = characterTable(" \t\r\f\v");

/** Tokens of one character. */
const single = tokenTable(Token, { ".": Token.dot });
/** Characters that may begin a token or a comment, and blanks and line ends. */
const tokenCharacters = characterTable(`${initials}${digits}" \t\r\f\v\n.${punctuationCharacters}`);
/** Operators of several characters, by their first character; the longest first. */
const longer: (readonly (readonly [string, TokenKind])[] | undefined)[] = [];
longer[codeOf("<")] = [
  ["<<", Token.shiftLeft],
  ["<=", Token.lessEqual],
];
longer[codeOf(">")] = [
  [">>>", Token.shiftRightUnsigned],
  [">>", Token.shiftRight],
  [">=", Token.greaterEqual],
];
longer[codeOf("=")] = [["==", Token.equal]];
longer[codeOf("!")] = [["!=", Token.notEqual]];

const float = /[0-9]+(?:\.[0-9]+)?(?:[eE][+-][0-9]+)?(?=:)/y;
/**
 * Comments that IGC's own printer adds to every dump: the number of each instruction, and the predefined variables.
 * They are not kept.
 */
const dumped =
  /^(?:\/\/\/ \$[0-9]+|\/\/\/ VISA Predefined Variables|\/\/ \.decl [A-Z][0-9]+ v_type=[A-Z] v_name=%?\w+)\s*$/;

export type Report = (code: SyntaxCode, span: Span, message: string, help?: string) => void;

/** A position that the lexer can go back to. */
export interface Mark {
  readonly at: number;
  readonly count: number;
  readonly comments: number;
}

/**
 * Reads one token at a time: `next` advances to it; `kind`, `start` and `end` describe it. Statements end with their
 * line, so a line end is a token, unless a backslash or a comment swallows it. Only comments are allocated.
 */
export class Lexer extends Scanner<TokenKind, never> {
  /** Text before this offset may be read again after `reset`; its errors have been reported. */
  #reported = 0;
  readonly #report: Report;

  constructor(source: SourceText, report: Report) {
    super(source, Token.end);
    this.#report = report;
  }

  mark(): Mark {
    return { at: this.start, count: this.count, comments: this.comments.length };
  }

  /** Goes back to the token at which `mark` was called. */
  reset({ at, count, comments }: Mark): void {
    this.end = at;
    this.count = count;
    this.comments.length = comments;
    this.next();
  }

  next(): TokenKind {
    const { text } = this;
    const newLine = this.#skipTrivia();
    const at = this.end;
    this.start = at;
    if (at >= text.length) return (this.kind = Token.end);
    if (this.isTooMany()) return this.cutOff();
    const c = text.charCodeAt(at);
    if (newLine && labelStarters[c] === 1) {
      const end = this.follow(at + 1, labelFollowers);
      if (text.charCodeAt(end) === colon) {
        this.end = end + 1;
        return (this.kind = Token.label);
      }
    }
    if (starters[c] === 1) {
      this.end = this.follow(at + 1, followers);
      return (this.kind = Token.name);
    }
    if (c === newline) {
      this.end = at + 1;
      return (this.kind = Token.newline);
    }
    if (decimals[c] === 1) return this.#number(at);
    if (c === percent && starters[text.charCodeAt(at + 1)] === 1) {
      this.end = this.follow(at + 1, followers);
      return (this.kind = Token.name);
    }
    if (c === quote) return this.#string(at);
    const kind = single[c];
    if (kind === undefined || kind === 0) return (this.kind = this.#unknown(at));
    for (const [operator, operatorKind] of longer[c] ?? []) {
      if (!text.startsWith(operator, at)) continue;
      this.end = at + operator.length;
      return (this.kind = operatorKind);
    }
    this.end = at + 1;
    return (this.kind = kind as TokenKind);
  }

  /** Extends the current name to the whole mnemonic: `lsc_load` to `lsc_load.ugm.ca.ca`, or `cmp` to `cmp .lt`. */
  extendMnemonic(): void {
    const { text } = this;
    for (;;) {
      const at = this.follow(this.end, blanks);
      if (text.charCodeAt(at) !== dot) return;
      this.end = this.follow(at + 1, suffixFollowers);
    }
  }

  /** Extends the current dot to a directive: `.decl`. */
  extendDirective(): void {
    this.end = this.follow(this.end, followers);
  }

  /** Extends the current colon to the shape of data: `:d32x2t`, `:d32.xyz`, `:d8.2x16x8nt`. */
  extendShape(): void {
    let end = this.follow(this.end, followers);
    while (this.text.charCodeAt(end) === dot) end = this.follow(end + 1, followers);
    this.end = end;
  }

  /** Extends the current token to the end of the line, without comments. */
  extendLine(): void {
    const { text } = this;
    let end = this.start;
    for (; end < text.length && text.charCodeAt(end) !== newline; end++) {
      const second = text.charCodeAt(end) === slash ? text.charCodeAt(end + 1) : 0;
      if (second === slash || second === star) break;
    }
    while (end > this.start && blanks[text.charCodeAt(end - 1)] === 1) end--;
    this.end = end;
  }

  /** The character after the token. */
  get following(): number {
    return this.text.charCodeAt(this.end);
  }

  /** Takes the longest text that could be meant as a number, so that a malformed one is one token. */
  #number(at: number): TokenKind {
    const { text } = this;
    const c = text.charCodeAt(this.follow(at, decimals));
    if (c === dot || (c | 0x20) === 0x65) {
      float.lastIndex = at;
      if (float.test(text)) {
        this.end = float.lastIndex;
        return (this.kind = Token.float);
      }
    }
    this.end = this.follow(at, followers);
    return (this.kind = Token.number);
  }

  #string(at: number): TokenKind {
    const end = this.stringEnd(at, true);
    if (end === null)
      this.#error("visa-unterminated-string", at, at + 1, "the string is not closed on its line", 'end it with "');
    this.end = end ?? this.lineEnd(at);
    return (this.kind = Token.string);
  }

  #unknown(at: number): TokenKind {
    const { text } = this;
    let end = at + 1;
    while (end < text.length && tokenCharacters[text.charCodeAt(end)] !== 1) end++;
    this.end = end;
    const shown = JSON.stringify(text.slice(at, Math.min(end, at + 20)));
    const what = end - at === 1 ? "the character" : "the characters";
    this.#error("visa-unknown-character", at, end, `${what} ${shown} cannot begin a vISA token`);
    return Token.unknown;
  }

  #error(code: SyntaxCode, start: number, end: number, message: string, help?: string): void {
    if (start < this.#reported) return;
    this.#reported = end;
    this.#report(code, { start, end }, message, help);
  }

  /** Skips blanks, comments and continued line ends. Returns whether the next token begins in the first column. */
  #skipTrivia(): boolean {
    const { text } = this;
    let at = this.end;
    let newLine = at === 0 || text.charCodeAt(at - 1) === newline || (at === 1 && text.charCodeAt(0) === 0xfeff);
    for (;;) {
      const c = text.charCodeAt(at);
      if (blanks[c] === 1) at++;
      else if (c === slash) {
        const end = this.#comment(at);
        if (end === at) break;
        at = end;
        if (this.cut !== null) break;
      } else if (c === backslash) {
        const end = this.follow(at + 1, blanks);
        if (text.charCodeAt(end) !== newline) break;
        at = end + 1;
      } else break;
      newLine = false;
    }
    this.end = at;
    return newLine;
  }

  /** Keeps the comment that begins here and returns its end, or `start` if none begins here. */
  #comment(start: number): number {
    const kind = this.commentAt(start);
    if (kind === null) return start;
    if (kind === "block") return this.keep(kind, start, this.blockEnd(start));
    const found = this.text.indexOf("\n", start);
    const end = found < 0 ? this.text.length : found;
    return this.#isDumped(start, end) ? end : this.keep(kind, start, end);
  }

  protected unclosedComment({ start, end }: Span): void {
    this.#error("visa-unterminated-comment", start, end, "the comment is never closed", "end it with */");
  }

  #isDumped(start: number, end: number): boolean {
    const { text } = this;
    // The fast path for most of them: `/// $12`.
    if (text.charCodeAt(start + 2) === slash && text.charCodeAt(start + 4) === 0x24) {
      const at = this.follow(start + 5, decimals);
      if (at === end && at > start + 5 && text.charCodeAt(start + 3) === 0x20) return true;
    }
    return end - start < 100 && dumped.test(text.slice(start, end));
  }
}
