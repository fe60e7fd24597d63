import type { SourceText, Span } from "../../source/index.ts";
import type { Comment } from "../tree.ts";

/**
 * Lines of text with the source's comments put back: a comment on a line of its own stays on one, any other goes to the end
 * of the statement that it follows or stands in. Of the source's blank lines between statements one stays.
 */
export class Lines {
  readonly #source: SourceText;
  readonly #comments: readonly Comment[];
  readonly #lines: string[] = [];
  #nextComment = 0;
  /** The end of what is printed, in the source. */
  #printed = 0;
  /** The last line ends with a comment that nothing can follow. */
  #closed = true;

  constructor(source: SourceText, comments: readonly Comment[]) {
    this.#source = source;
    this.#comments = comments;
  }

  /** `apart`: a blank line precedes it, and its comments, whatever the source has. */
  print(text: string, span: Span, apart = false): void {
    const indent = text.length - text.trimStart().length;
    const separated = this.#commentsBefore(span.start, apart, indent);
    this.#separate(span.start, apart && !separated);
    this.#lines.push(text);
    this.#printed = Math.max(this.#printed, span.end);
    this.#closed = false;
    while (this.#pending(span.end)) this.#append(this.#take());
  }

  /** Comments before `offset`, indented by so many blanks. */
  comments(offset: number, indent: number): void {
    this.#commentsBefore(offset, false, indent);
  }

  end(): string {
    this.#commentsBefore(this.#source.text.length + 1, false, 0);
    return this.#lines.length === 0 ? "" : `${this.#lines.join("\n")}\n`;
  }

  #pending(end: number): boolean {
    const comment = this.#comments[this.#nextComment];
    return comment !== undefined && comment.start < end;
  }

  #take(): Comment {
    return this.#comments[this.#nextComment++]!;
  }

  /** Whether a blank line is above one of them. */
  #commentsBefore(offset: number, apart: boolean, indent: number): boolean {
    let separated = false;
    while (this.#pending(offset)) {
      const comment = this.#take();
      if (!this.#closed && this.#newlines(comment.start) === 0) this.#append(comment);
      else {
        this.#separate(comment.start, apart && !separated);
        separated = true;
        this.#lines.push(" ".repeat(indent));
        this.#append(comment);
      }
    }
    return separated;
  }

  #append(comment: Comment): void {
    const text = this.#source.slice(comment).trimEnd();
    const line = this.#lines.at(-1)!;
    const open = comment.kind === "block" && !(text.length >= 4 && text.endsWith("*/"));
    this.#lines[this.#lines.length - 1] = `${line}${line.trim() === "" ? "" : " "}${text}${open ? " */" : ""}`;
    this.#printed = Math.max(this.#printed, comment.end);
    this.#closed = comment.kind === "line";
  }

  #separate(start: number, apart: boolean): void {
    if (this.#lines.length > 0 && (apart || this.#newlines(start) > 1)) this.#lines.push("");
  }

  #newlines(until: number): number {
    let count = 0;
    const { text } = this.#source;
    const end = Math.min(until, text.length);
    for (let at = this.#printed; at < end; at++) if (text.charCodeAt(at) === 0x0a) count++;
    return count;
  }
}
