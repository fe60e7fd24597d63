import type { SourceText, Span } from "../../source/index.ts";
import type { Comment, VisaFile } from "../tree.ts";

/** A comment, or a statement that is not in the tree. */
interface Loose extends Span {
  readonly kind: Comment["kind"] | "statement";
}

/**
 * Lines of text with the source's comments put back. A comment on a line of its own keeps it; any other goes to the end
 * of the statement that it follows or is in. Statements that the parser skipped stay as they are. Blank lines of the
 * source between statements become one.
 */
export class Lines {
  readonly #source: SourceText;
  readonly #loose: readonly Loose[];
  readonly #lines: string[] = [];
  #next = 0;
  /** The end, in the source, of what has been printed. */
  #printed = 0;
  /** Whether the last line ends with a comment that nothing can follow. */
  #closed = true;
  /** Whether the last line has only its indentation. */
  #blank = false;

  constructor({ source, comments, skipped = [] }: VisaFile) {
    this.#source = source;
    this.#loose = inOrder(comments, skipped);
  }

  /** Prints a statement. `apart`: a blank line precedes it and its comments, whatever the source has. */
  print(text: string, span: Span, apart = false): void {
    const indent = text.length - text.trimStart().length;
    const separated = this.#looseBefore(span.start, apart, indent);
    this.#separate(span.start, apart && !separated);
    this.#lines.push(text);
    this.#printed = Math.max(this.#printed, span.end);
    this.#closed = false;
    this.#blank = false;
    while (this.#pending(span.end)) this.#append(this.#take());
  }

  /** Prints the comments before `offset`, indented by `indent` blanks. */
  comments(offset: number, indent: number): void {
    this.#looseBefore(offset, false, indent);
  }

  /** Prints what is left, and returns the text. */
  end(): string {
    this.#looseBefore(this.#source.text.length + 1, false, 0);
    return this.#lines.length === 0 ? "" : `${this.#lines.join("\n")}\n`;
  }

  #pending(end: number): boolean {
    const loose = this.#loose[this.#next];
    return loose !== undefined && loose.start < end;
  }

  #take(): Loose {
    return this.#loose[this.#next++]!;
  }

  /** Prints the comments and skipped statements before an offset. Returns whether any of them has a line of its own. */
  #looseBefore(offset: number, apart: boolean, indent: number): boolean {
    let separated = false;
    while (this.#pending(offset)) {
      const loose = this.#take();
      if (loose.kind !== "statement" && !this.#closed && this.#newlines(loose.start) === 0) this.#append(loose);
      else {
        this.#separate(loose.start, apart && !separated);
        separated = true;
        this.#lines.push(loose.kind === "statement" ? this.#indentOf(loose) : " ".repeat(indent));
        this.#blank = true;
        this.#append(loose);
      }
    }
    return separated;
  }

  /** The blanks before a skipped statement, which are kept because in the first column it could become a label. */
  #indentOf({ start }: Span): string {
    const line = this.#source.text.slice(this.#source.text.lastIndexOf("\n", start - 1) + 1, start);
    return start > 0 && line.trim() === "" ? line : "    ".slice(0, start);
  }

  #append(loose: Loose): void {
    const text = this.#source.slice(loose).trimEnd();
    const open = loose.kind === "block" && !(text.length >= 4 && text.endsWith("*/"));
    // The line is not searched, because many comments may have made it long.
    this.#lines[this.#lines.length - 1] += `${this.#blank ? "" : " "}${text}${open ? " */" : ""}`;
    this.#blank = false;
    this.#printed = Math.max(this.#printed, loose.end);
    this.#closed = loose.kind === "line";
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

/** Comments and skipped statements in order. Comments inside a skipped statement are printed with it. */
function inOrder(comments: readonly Comment[], skipped: readonly Span[]): readonly Loose[] {
  const loose: Loose[] = [];
  let next = 0;
  for (const { start, end } of skipped) {
    while (next < comments.length && comments[next]!.start < start) loose.push(comments[next++]!);
    while (next < comments.length && comments[next]!.start < end) next++;
    loose.push({ kind: "statement", start, end });
  }
  return loose.concat(comments.slice(next));
}
