import { tokenLimit } from "./characters.ts";
import { type DiagnosticDetails, DiagnosticSink } from "./diagnostic.ts";
import type { SourceText, Span } from "./source-text.ts";

/** The kinds of tokens that the cursor itself asks for. `panic` is not a token: nothing matches it. */
interface Kinds<Kind> {
  readonly end: Kind;
  readonly panic: Kind;
  readonly string: Kind;
  /** The end of a line, in a language whose statements end there. */
  readonly newline?: Kind;
}

/**
 * The base of the parsers' cursors: the position in the text, with the current token. At the first error in a statement
 * the cursor panics: its token is then one that nothing matches, so that the rules run to their ends without further
 * reports, until the end of the statement.
 */
export abstract class TokenCursor<Kind extends number, Code extends string> {
  readonly source: SourceText;
  readonly text: string;
  readonly sink: DiagnosticSink<Code>;
  kind: Kind;
  start = 0;
  end = 0;
  /** The end of the previous token. */
  previousEnd = 0;
  /** The number of braces that the statement has opened and not closed. */
  braces = 0;
  /** The number of operators and parentheses so far in the outermost expression. */
  operators = 0;
  readonly #kinds: Kinds<Kind>;
  /** Read for each token, so it has a field of its own. */
  readonly #panic: Kind;

  protected constructor(source: SourceText, kinds: Kinds<Kind>) {
    this.source = source;
    this.text = source.text;
    this.sink = new DiagnosticSink(source);
    this.#kinds = kinds;
    this.#panic = kinds.panic;
    this.kind = kinds.end;
  }

  abstract advance(): void;
  /** Reports that something else is expected here, and panics. */
  abstract unexpected(wanted: string): void;
  abstract error(code: Code, span: Span, message: string, details?: DiagnosticDetails): void;
  /** The kind that the lexer gave to the current token, which a panic hides. */
  protected abstract get scanned(): Kind;

  get panicking(): boolean {
    return this.kind === this.#panic;
  }

  panic(): void {
    this.kind = this.#panic;
  }

  at(kind: Kind): boolean {
    return this.kind === kind;
  }

  accept(kind: Kind): boolean {
    if (this.kind !== kind) return false;
    this.advance();
    return true;
  }

  expect(kind: Kind, wanted: string): boolean {
    if (this.accept(kind)) return true;
    this.unexpected(wanted);
    return false;
  }

  /** The text of the token. */
  get token(): string {
    return this.text.slice(this.start, this.end);
  }

  get span(): Span {
    return { start: this.start, end: this.end };
  }

  /** Describes the token as one that was not expected. */
  describe(): string {
    const { end, newline, string } = this.#kinds;
    if (this.kind === end) return "the end of the text";
    if (newline !== undefined && this.kind === newline) return "the end of the line";
    const text = this.end - this.start > 40 ? `${this.text.slice(this.start, this.start + 40)}...` : this.token;
    return this.kind === string ? text : `'${text}'`;
  }

  /** Reports an error and panics. */
  fail(code: Code, span: Span, message: string, details?: DiagnosticDetails): void {
    this.error(code, span, message, details);
    this.panic();
  }

  /** Advances over a token without parsing it, and without reports. */
  skip(): void {
    this.panic();
    this.advance();
    this.kind = this.scanned;
  }

  /**
   * Adds a range of skipped text to a list, as one with the last if only blanks lie between them.
   *
   * @param make makes an element of the list
   */
  protected addSkipped<T extends Span>(list: T[], start: number, end: number, make: (start: number, end: number) => T) {
    const last = list.at(-1);
    if (last && this.text.slice(last.end, start).trim() === "") list[list.length - 1] = make(last.start, end);
    else list.push(make(start, end));
  }

  /** Reports that the text was cut off at `cut`, because of its number of tokens. */
  protected reportCut(code: Code, what: string, cut: number): void {
    const message = `the ${what} has more than ${tokenLimit} tokens; the rest is not read`;
    this.sink.error(code, { start: cut, end: cut }, message);
  }
}
