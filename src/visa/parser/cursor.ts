import type { DiagnosticDetails, SourceText, Span } from "../../source/index.ts";
import { TokenCursor } from "../../source/token-cursor.ts";
import type { SyntaxCode } from "../codes-syntax.ts";
import { Lexer, type Mark, Token, type TokenKind } from "../lexer.ts";
import type { Name } from "../tree.ts";
import { Constants } from "./constants.ts";

/** The deepest nesting of scopes, and of expressions. */
export const nestingLimit = 256;

interface Failure {
  readonly code: SyntaxCode;
  readonly span: Span;
  readonly message: string;
  readonly details: DiagnosticDetails | undefined;
}

/** The parser's position in the text. In a panic `endStatement` skips to the end of the line. */
export class Cursor extends TokenCursor<TokenKind, SyntaxCode> {
  readonly lexer: Lexer;
  readonly constants: Constants;
  /** Statements that are not in the tree. */
  readonly skipped: Span[] = [];
  /** Start of the current statement. */
  statementStart = 0;
  /** Number of open scopes. */
  scopes = 0;
  /** The first error of a trial, which is kept here instead of being reported. */
  #failure: Failure | null = null;
  #trying = false;

  constructor(source: SourceText, grfBytes: 32 | 64) {
    super(source, Token);
    this.constants = new Constants(grfBytes);
    this.lexer = new Lexer(source, (code, span, message, help) => {
      // The rest of a wrong statement is skipped silently, but a comment that swallows the rest of the text is always
      // reported.
      if (code === "visa-unterminated-comment" || !this.panicking) this.sink.error(code, span, message, { help });
    });
    this.advance();
    this.previousEnd = 0;
  }

  protected get scanned(): TokenKind {
    return this.lexer.kind;
  }

  advance(): void {
    this.previousEnd = this.end;
    this.lexer.next();
    this.#take();
  }

  #take(): void {
    const { lexer } = this;
    this.start = lexer.start;
    this.end = lexer.end;
    // The lexer has reported what is wrong with it.
    this.kind = lexer.kind === Token.unknown ? Token.panic : lexer.kind;
  }

  /** Extends the current token, in one of the lexer's ways. */
  extend(how: "extendMnemonic" | "extendDirective" | "extendShape" | "extendLine"): void {
    this.lexer[how]();
    this.end = this.lexer.end;
  }

  /** Whether the token is a name with this text. */
  atWord(word: string): boolean {
    return this.kind === Token.name && this.end - this.start === word.length && this.text.startsWith(word, this.start);
  }

  acceptWord(word: string): boolean {
    if (!this.atWord(word)) return false;
    this.advance();
    return true;
  }

  /** Takes the name at the cursor; otherwise reports an error and returns an empty name. */
  name(wanted: string): Name {
    const name: Name = { text: this.at(Token.name) ? this.token : "", start: this.start, end: this.end };
    this.expect(Token.name, wanted);
    return name;
  }

  /** Whether the statement ends here. */
  get atEnd(): boolean {
    return this.kind === Token.newline || this.kind === Token.end || this.kind === Token.rightBrace;
  }

  error(code: SyntaxCode, span: Span, message: string, details?: DiagnosticDetails): void {
    // Once the text has been cut off, everything would seem to be missing.
    if (this.panicking || this.lexer.cut !== null) return;
    if (this.#trying) this.#failure ??= { code, span: { start: span.start, end: span.end }, message, details };
    else this.sink.error(code, span, message, details);
  }

  unexpected(wanted: string, help?: string): void {
    if (this.panicking) return;
    this.fail("visa-unexpected-token", this.errorSpan, `expected ${wanted}, found ${this.describe()}`, { help });
  }

  /** Where something is missing: at the token, or at the end of the statement. */
  get errorSpan(): Span {
    const ended = this.kind === Token.newline || this.kind === Token.end;
    return ended ? { start: this.previousEnd, end: this.previousEnd } : this.span;
  }

  /**
   * The result of the first of `rules` that matches; if none does, reports the error of the rule that got furthest and
   * returns null.
   */
  first<T>(rules: Iterable<() => T>): T | null {
    const mark = this.#mark();
    const trying = this.#trying;
    const before = this.#failure;
    let furthest: Failure | null = null;
    this.#trying = true;
    for (const rule of rules) {
      this.#failure = null;
      const result = rule();
      const failure = this.#caught();
      if (failure === null && !this.panicking) {
        this.#trying = trying;
        this.#failure = before;
        return result;
      }
      if (failure !== null && (furthest === null || failure.span.start > furthest.span.start)) furthest = failure;
      this.#reset(mark);
    }
    this.#trying = trying;
    this.#failure = before;
    if (furthest !== null) this.error(furthest.code, furthest.span, furthest.message, furthest.details);
    this.kind = Token.panic;
    return null;
  }

  /** The first error of a trial. */
  #caught(): Failure | null {
    return this.#failure;
  }

  /** The result of a rule if it matches; otherwise null, with the cursor where it was. */
  maybe<T>(rule: () => T): T | null {
    const mark = this.#mark();
    const trying = this.#trying;
    const before = this.#failure;
    this.#trying = true;
    this.#failure = null;
    const result = rule();
    const failed = this.#caught() !== null || this.panicking;
    this.#trying = trying;
    this.#failure = before;
    if (!failed) return result;
    this.#reset(mark);
    return null;
  }

  #mark(): { readonly lexer: Mark; readonly previousEnd: number } {
    return { lexer: this.lexer.mark(), previousEnd: this.previousEnd };
  }

  #reset({ lexer, previousEnd }: { readonly lexer: Mark; readonly previousEnd: number }): void {
    // Going back reports nothing again: see `Lexer`.
    this.lexer.reset(lexer);
    this.#take();
    this.previousEnd = previousEnd;
  }

  /**
   * Takes the end of a statement: that of its line or scope. If there is more, or in a panic, skips the rest of the
   * line and returns false.
   */
  endStatement(): boolean {
    if (this.accept(Token.newline) || this.atEnd) return true;
    this.unexpected("the end of the line");
    this.recover();
    return false;
  }

  /** Takes the end of something that stays in the tree, even if more follows on its line. */
  endHeading(): void {
    if (!this.panicking) this.statementStart = this.start;
    this.endStatement();
  }

  /** Ends the panic at the end of the statement, which is kept among the skipped ones. */
  recover(): void {
    let { braces } = this;
    this.kind = this.lexer.kind;
    while (this.kind !== Token.newline && this.kind !== Token.end) {
      if (this.kind === Token.leftBrace) braces++;
      else if (this.kind === Token.rightBrace) {
        if (braces === 0 && this.scopes > 0) break;
        braces = Math.max(0, braces - 1);
      }
      this.skip();
    }
    this.braces = 0;
    this.#keepSkipped(this.statementStart, this.previousEnd);
    this.accept(Token.newline);
  }

  #keepSkipped(start: number, end: number): void {
    if (end > start) this.addSkipped(this.skipped, start, end, (from, to) => ({ start: from, end: to }));
  }

  /** Ends the panic after the `}` of the scope whose `{` the cursor is at, or at the end of the text. */
  skipScope(): void {
    let open = 0;
    this.kind = this.lexer.kind;
    do {
      if (this.kind === Token.leftBrace) open++;
      else if (this.kind === Token.rightBrace) open--;
      this.skip();
    } while (open > 0 && this.kind !== Token.end);
    this.recover();
  }

  /** Reports at the end that the text was cut off, if so. */
  finish(): void {
    const { cut } = this.lexer;
    if (cut === null) return;
    this.#keepSkipped(cut, this.text.length);
    this.reportCut("visa-too-many-tokens", "file", cut);
  }
}
