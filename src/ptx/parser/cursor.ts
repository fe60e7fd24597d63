import { type DiagnosticDetails, DiagnosticSink, type SourceText, type Span } from "../../source/index.ts";
import type { SyntaxCode } from "../codes-syntax.ts";
import { tokenLimit } from "../../source/characters.ts";
import { Lexer, Token, type TokenKind } from "../lexer.ts";
import type { BadNode } from "../tree.ts";
import { isInstructionKeyword } from "./keywords.ts";
import { Names } from "./names.ts";

/** How deep blocks, operands, initializers and expressions may nest, each counted for itself. */
export const nestingLimit = 256;

/**
 * The parser's place in the text. At the first error of a statement the cursor panics: it stands on a token that nothing
 * matches, so the rules run out by themselves and say nothing more, until a statement's end calls `recover`.
 */
export class Cursor {
  readonly source: SourceText;
  readonly text: string;
  readonly lexer: Lexer;
  readonly sink: DiagnosticSink<SyntaxCode>;
  readonly skipped: BadNode[] = [];
  readonly #names: Names;
  kind: TokenKind = Token.end;
  start = 0;
  end = 0;
  /** Where the token before this one ended. */
  previousEnd = 0;
  /** Where the statement began that the cursor is in. */
  statementStart = -1;
  /** Open blocks. */
  blocks = 0;
  /** Open brackets of an operand or braces of an initializer. */
  brackets = 0;
  /** Those among them that are braces; a panic keeps the count, so that their `}` does not end a block. */
  braces = 0;
  /** The token that cuts blocks short and is reported. */
  unclosedAt = -1;
  /** Operators and parentheses of the outermost expression so far. */
  operators = 0;
  /** Expressions may name sections (`.debug_str+16`). */
  inSection = false;
  /** Expressions may call `generic` and masks. */
  inInitializer = false;

  constructor(source: SourceText) {
    this.source = source;
    this.text = source.text;
    this.#names = new Names(source.text);
    this.sink = new DiagnosticSink(source);
    this.lexer = new Lexer(source, (code, span, message, help) => {
      // Text that is skipped is wrong already, but what swallows the rest of the text is always worth saying.
      if (code !== "ptx-unknown-character" || !this.panicking) this.sink.error(code, span, message, { help });
    });
    this.advance();
    this.previousEnd = 0;
  }

  get panicking(): boolean {
    return this.kind === Token.panic;
  }

  /** The token is the first on its line. */
  get first(): boolean {
    return this.lexer.first;
  }

  advance(): void {
    const { lexer } = this;
    this.previousEnd = this.end;
    const kind = lexer.next();
    this.kind = kind;
    this.start = lexer.start;
    this.end = lexer.end;
    // The lexer has said what is wrong with it.
    if (kind === Token.unknown) this.kind = Token.panic;
  }

  /** Makes the name at the cursor the whole opcode. */
  extendOpcode(): void {
    this.lexer.extendOpcode();
    this.end = this.lexer.end;
  }

  at(kind: TokenKind): boolean {
    return this.kind === kind;
  }

  accept(kind: TokenKind): boolean {
    if (this.kind !== kind) return false;
    this.advance();
    return true;
  }

  expect(kind: TokenKind, wanted: string): boolean {
    if (this.kind === kind) {
      this.advance();
      return true;
    }
    this.unexpected(wanted);
    return false;
  }

  /** The text of the token. */
  get token(): string {
    return this.#names.slice(this.start, this.end);
  }

  /** The text of the token without its dot. */
  get undotted(): string {
    return this.#names.slice(this.start + 1, this.end);
  }

  error(code: SyntaxCode, span: Span, message: string, details?: DiagnosticDetails): void {
    // Where the text is cut off, everything seems to be missing.
    if (!this.panicking && this.lexer.cut === null) this.sink.error(code, span, message, details);
  }

  /** Reports and panics. */
  fail(code: SyntaxCode, span: Span, message: string, details?: DiagnosticDetails): void {
    this.error(code, span, message, details);
    this.kind = Token.panic;
  }

  unexpected(wanted: string): void {
    if (!this.panicking) this.fail("ptx-unexpected-token", this.spot, `expected ${wanted}, found ${this.found}`);
  }

  /** The token cannot begin a statement or item. */
  misplaced(wanted: string): void {
    if (!this.panicking) this.fail("ptx-unexpected-token", this, `expected ${wanted}, found ${this.describe()}`);
  }

  /** A bracket that is not closed, with the place where it was opened. */
  unclosed(wanted: string, open: Span): void {
    if (this.panicking) return;
    const notes = [{ message: "opened here", source: this.source, span: open }];
    this.fail("ptx-unclosed-bracket", this.spot, `expected ${wanted}, found ${this.found}`, { notes });
  }

  /** Where something is missing: the token, or the end of the line before if the token begins a line. */
  get spot(): Span {
    return this.startsLine ? { start: this.previousEnd, end: this.previousEnd } : { start: this.start, end: this.end };
  }

  get startsLine(): boolean {
    return this.kind === Token.end || (this.first && this.previousEnd > 0);
  }

  /** The token as a surprise in the middle of something. */
  get found(): string {
    return this.kind !== Token.end && this.startsLine ? `${this.describe()} on a new line` : this.describe();
  }

  describe(): string {
    if (this.kind === Token.end) return "the end of the text";
    const text = this.end - this.start > 40 ? `${this.text.slice(this.start, this.start + 40)}...` : this.token;
    return this.kind === Token.string ? text : `'${text}'`;
  }

  tooDeep(what: string): void {
    this.fail("ptx-nesting-too-deep", this.spot, `${what} nest more than ${nestingLimit} deep`);
  }

  /** Whether the token can only begin the next statement (so that something is missing before it). */
  get beginsStatement(): boolean {
    switch (this.kind) {
      case Token.end:
      case Token.rightBrace:
      case Token.dwarf:
        return true;
      case Token.directive:
      case Token.at:
        return this.first;
      case Token.name:
        return this.first && this.namesStatement;
      default:
        return false;
    }
  }

  /** Whether the name is a label or an opcode; a function may be called `add`, but no operand looks like `add.u32 r`. */
  get namesStatement(): boolean {
    const { following } = this.lexer;
    return following === ":" || (isInstructionKeyword(this.token) && /[.\w%$([{]/.test(following));
  }

  get mayBeOpcode(): boolean {
    return this.first || isInstructionKeyword(this.token);
  }

  /** The end of a statement: `;`, or the report that it is missing, or the end of a panic. False if text was skipped. */
  endStatement(wanted = "',' or ';'"): boolean {
    if (this.accept(Token.semicolon)) return true;
    if (!this.panicking) {
      const opens = this.kind === Token.leftBrace ? this.first : this.kind === Token.name && this.mayBeOpcode;
      if (opens || this.beginsStatement) {
        this.missingSemicolon();
        return true;
      }
      this.unexpected(wanted);
    }
    this.recover();
    return false;
  }

  /** The end of a directive that has no `;` and ends with its line. */
  endLine(): void {
    if (!this.panicking) return;
    const { start } = this;
    this.kind = this.lexer.kind;
    while (
      this.kind !== Token.end &&
      this.kind !== Token.rightBrace &&
      !(this.first && this.start > this.statementStart)
    ) {
      this.skip();
    }
    if (this.start > start) this.keepSkipped(start, this.previousEnd);
  }

  missingSemicolon(): void {
    this.error(
      "ptx-missing-semicolon",
      { start: this.previousEnd, end: this.previousEnd },
      "the statement does not end with ';'",
      { help: "write ';' here" },
    );
  }

  /** Leaves the panic at the end of the statement, and keeps what is skipped. */
  recover(): void {
    const { start } = this;
    this.skipStatement();
    if (this.start > start) this.keepSkipped(start, this.previousEnd);
  }

  /** Leaves the panic: moves behind the statement's `;`, or to the next thing that looks like a statement or ends a block. */
  skipStatement(): void {
    let opened = 0;
    this.kind = this.lexer.kind;
    while (this.kind !== Token.end) {
      if (this.kind === Token.leftBrace) {
        if (this.first && opened === 0) break;
        opened++;
      } else if (this.kind === Token.rightBrace) {
        if (opened > 0) opened--;
        else if (this.braces > 0) this.braces--;
        else break;
      } else if (this.start > this.statementStart && this.first && this.beginsStatement) break;
      const last = this.kind === Token.semicolon && opened === 0;
      this.skip();
      if (last) break;
    }
    this.braces = 0;
  }

  /** Advances over a token that no rule looks at, in silence. */
  skip(): void {
    this.kind = Token.panic;
    this.advance();
    this.kind = this.lexer.kind;
  }

  keepSkipped(start: number, end: number): void {
    const { skipped } = this;
    const last = skipped.at(-1);
    if (last && this.text.slice(last.end, start).trim() === "") skipped[skipped.length - 1] = bad(last.start, end);
    else skipped.push(bad(start, end));
  }

  /** What the end of the text leaves to say. */
  finish(): void {
    const { cut } = this.lexer;
    if (cut === null) return;
    this.sink.error(
      "ptx-too-many-tokens",
      { start: cut, end: cut },
      `the module has more than ${tokenLimit} tokens; the rest is not read`,
    );
  }
}

export const bad = (start: number, end: number): BadNode => ({ kind: "bad", start, end });
