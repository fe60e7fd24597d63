import type { DiagnosticDetails, SourceText, Span } from "../../source/index.ts";
import { TokenCursor } from "../../source/token-cursor.ts";
import type { SyntaxCode } from "../codes-syntax.ts";
import { Lexer, Token, type TokenKind } from "../lexer.ts";
import type { BadNode } from "../tree/leaves.ts";
import { isInstructionKeyword } from "./keywords.ts";
import { Names } from "./names.ts";

/** How deeply blocks, operands, initializers and expressions may be nested; each is counted separately. */
export const nestingLimit = 256;

/** The parser's position in the text. The end of a statement, or of a panic, calls `recover`. */
export class Cursor extends TokenCursor<TokenKind, SyntaxCode> {
  readonly lexer: Lexer;
  readonly skipped: BadNode[] = [];
  readonly #names: Names;
  /** The start of the current statement. */
  statementStart = -1;
  /** The number of open blocks. */
  blocks = 0;
  /**
   * The number of open brackets of an operand or braces of an initializer. `braces` counts the latter; a panic keeps
   * it, so that their `}` does not end a block.
   */
  brackets = 0;
  /** The start of the last token that was reported for ending blocks without their `}`. */
  unclosedAt = -1;
  /** Whether expressions may name sections (`.debug_str+16`). */
  inSection = false;
  /** Whether expressions may call `generic` and masks. */
  inInitializer = false;

  constructor(source: SourceText) {
    super(source, Token);
    this.#names = new Names(source.text);
    this.lexer = new Lexer(source, (code, span, message, help) => {
      // Skipped text has been reported already, but an unclosed string or comment is always worth reporting.
      if (code !== "ptx-unknown-character" || !this.panicking) this.sink.error(code, span, message, { help });
    });
    this.advance();
    this.previousEnd = 0;
  }

  /** Whether the token is the first on its line. */
  get first(): boolean {
    return this.lexer.first;
  }

  protected get scanned(): TokenKind {
    return this.lexer.kind;
  }

  advance(): void {
    const { lexer } = this;
    this.previousEnd = this.end;
    const kind = lexer.next();
    this.kind = kind;
    this.start = lexer.start;
    this.end = lexer.end;
    // The lexer has reported it.
    if (kind === Token.unknown) this.kind = Token.panic;
  }

  /** Extends the name at the cursor to the whole opcode. */
  extendOpcode(): void {
    this.lexer.extendOpcode();
    this.end = this.lexer.end;
  }

  override get token(): string {
    return this.#names.slice(this.start, this.end);
  }

  /** The text of the token without its dot. */
  get undotted(): string {
    return this.#names.slice(this.start + 1, this.end);
  }

  error(code: SyntaxCode, span: Span, message: string, details?: DiagnosticDetails): void {
    // After the text was cut off, errors about missing text would be misleading.
    if (!this.panicking && this.lexer.cut === null) this.sink.error(code, span, message, details);
  }

  unexpected(wanted: string): void {
    if (!this.panicking) this.fail("ptx-unexpected-token", this.missingAt, `expected ${wanted}, found ${this.found}`);
  }

  /** Reports that the token cannot begin a statement or item. */
  misplaced(wanted: string): void {
    if (!this.panicking) this.fail("ptx-unexpected-token", this, `expected ${wanted}, found ${this.describe()}`);
  }

  /** Reports a bracket that is not closed, with a note where it was opened. */
  unclosed(wanted: string, open: Span): void {
    if (this.panicking) return;
    const notes = [{ message: "opened here", source: this.source, span: open }];
    this.fail("ptx-unclosed-bracket", this.missingAt, `expected ${wanted}, found ${this.found}`, { notes });
  }

  /**
   * The span to report when something is missing: the token, or the end of the previous line if the token begins a
   * line.
   */
  get missingAt(): Span {
    return this.startsLine ? { start: this.previousEnd, end: this.previousEnd } : { start: this.start, end: this.end };
  }

  get startsLine(): boolean {
    return this.kind === Token.end || (this.first && this.previousEnd > 0);
  }

  /** Describes the token as one that was not expected. */
  get found(): string {
    return this.kind !== Token.end && this.startsLine ? `${this.describe()} on a new line` : this.describe();
  }

  tooDeep(what: string): void {
    this.fail("ptx-nesting-too-deep", this.missingAt, `${what} are nested more than ${nestingLimit} deep`);
  }

  /** Whether the token can only begin the next statement, which means that something is missing before it. */
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

  /**
   * Whether the name is a label or an opcode. A function may be called `add`, but no operand looks like `add.u32 r`.
   */
  get namesStatement(): boolean {
    const { following } = this.lexer;
    return following === ":" || (isInstructionKeyword(this.token) && /[.\w%$([{]/.test(following));
  }

  get mayBeOpcode(): boolean {
    return this.first || isInstructionKeyword(this.token);
  }

  /**
   * Ends a statement: takes its `;`, or reports that it is missing, or recovers from a panic. False if text was
   * skipped.
   */
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

  /** Ends a directive that has no `;` and ends with its line. */
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

  /** Leaves the panic at the end of the statement and records the skipped text. */
  recover(): void {
    const { start } = this;
    this.skipStatement();
    if (this.start > start) this.keepSkipped(start, this.previousEnd);
  }

  /**
   * Leaves the panic: moves past the statement's `;`, or to the next token that seems to begin a statement or end a
   * block.
   */
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

  keepSkipped(start: number, end: number): void {
    this.addSkipped(this.skipped, start, end, bad);
  }

  /** Reports that the text was cut off, if it was. */
  finish(): void {
    const { cut } = this.lexer;
    if (cut !== null) this.reportCut("ptx-too-many-tokens", "module", cut);
  }
}

export const bad = (start: number, end: number): BadNode => ({ kind: "bad", start, end });
