import type { SourceText, Span } from "../../source/index.ts";
import type { Comment } from "../tree/leaves.ts";

export const indentation = "    ";

/**
 * Collects lines and puts the source's comments back. A comment that follows a statement on its line stays there; all
 * others get lines of their own, before the statement that they precede or interrupt. Runs of blank lines become one.
 */
export class Lines {
  indent = 0;
  readonly #source: SourceText;
  readonly #comments: readonly Comment[];
  readonly #lines: string[] = [];
  #nextComment = 0;
  /** Everything in the source up to this offset has been printed. */
  #printed = 0;
  /** Whether nothing can be appended to the last line, because it ends with a line comment. */
  #closed = true;
  #blank: "as the source" | "always" | "never" = "never";

  constructor(source: SourceText, comments: readonly Comment[]) {
    this.#source = source;
    this.#comments = comments;
  }

  /** Prints one or more lines, which represent `span` of the source. */
  print(text: string, span: Span, indent = this.indent): void {
    this.#commentsBefore(span.start);
    this.#separate(span.start);
    while (this.#pending(span.end)) this.#ownLine(this.#take());
    this.#push(indentation.repeat(indent) + text);
    this.#printed = Math.max(this.#printed, span.end);
    this.#closed = false;
    this.#blank = "as the source";
  }

  /** Prints the source of `span` unchanged, comments included. */
  verbatim(span: Span): void {
    this.#commentsBefore(span.start);
    this.#separate(span.start);
    while (this.#pending(span.end)) this.#take();
    this.#push(indentation.repeat(this.indent) + this.#source.slice(span).trimEnd());
    this.#printed = Math.max(this.#printed, span.end);
    this.#closed = false;
    this.#blank = "as the source";
  }

  /** Says whether a blank line must precede the next line; the default is as in the source. */
  blank(wanted: "always" | "never"): void {
    this.#blank = wanted;
  }

  /** The offset after the next `character` that is not in a comment, or `limit`. */
  after(character: string, limit: number): number {
    let comment = this.#nextComment;
    let at = this.#source.text.indexOf(character, this.#printed);
    for (; at >= 0 && at < limit; at = this.#source.text.indexOf(character, at)) {
      while ((this.#comments[comment]?.end ?? Number.POSITIVE_INFINITY) <= at) comment++;
      const around = this.#comments[comment];
      if (around === undefined || around.start > at) return at + 1;
      at = around.end;
    }
    return limit;
  }

  /** Prints the comments before `offset`, inside the block that ends there. */
  commentsBefore(offset: number): void {
    this.#commentsBefore(offset);
    this.#blank = "never";
  }

  end(): string {
    this.#commentsBefore(this.#source.text.length + 1);
    return this.#lines.length === 0 ? "" : `${this.#lines.join("\n")}\n`;
  }

  #pending(end: number): boolean {
    const comment = this.#comments[this.#nextComment];
    return comment !== undefined && comment.start < end;
  }

  #take(): Comment {
    return this.#comments[this.#nextComment++]!;
  }

  #commentsBefore(offset: number): void {
    while (this.#pending(offset)) {
      const comment = this.#take();
      if (this.#trails(comment)) this.#append(` ${this.#text(comment)}`);
      else {
        this.#separate(comment.start);
        this.#ownLine(comment);
        this.#blank = "as the source";
      }
      this.#closed = comment.kind !== "block";
      this.#printed = Math.max(this.#printed, comment.end);
    }
  }

  #trails(comment: Comment): boolean {
    return !this.#closed && comment.kind !== "preprocessor" && this.#newlines(comment.start) === 0;
  }

  #ownLine(comment: Comment): void {
    const indent = comment.kind === "preprocessor" ? "" : indentation.repeat(this.indent);
    this.#push(indent + this.#text(comment));
  }

  #text(comment: Comment): string {
    const text = this.#source.slice(comment).trimEnd();
    return comment.kind === "block" && !(text.length >= 4 && text.endsWith("*/")) ? `${text} */` : text;
  }

  /** Prints the blank line before the text that begins at `start`, if there is to be one. */
  #separate(start: number): void {
    if (this.#blank === "always" || (this.#blank === "as the source" && this.#newlines(start) > 1)) this.#push("");
    this.#blank = "never";
  }

  #newlines(until: number): number {
    let count = 0;
    const { text } = this.#source;
    for (let at = this.#printed; at < until; at++) if (text.charCodeAt(at) === 0x0a) count++;
    return count;
  }

  #push(line: string): void {
    this.#lines.push(line);
  }

  #append(text: string): void {
    this.#lines[this.#lines.length - 1] += text;
  }
}
