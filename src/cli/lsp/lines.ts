import type { Position, Range } from "vscode-languageserver";
import { lastUpTo, type Span } from "../../source/index.ts";

/** Converts between offsets of a text and the protocol's lines and characters, both from 0. */
export class Lines {
  readonly #text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    // A line ends with \n, \r\n or \r, as the protocol has it.
    const ending = /\r\n?|\n/g;
    if (text.includes("\r"))
      for (const match of text.matchAll(ending)) this.#starts.push(match.index + match[0].length);
    else for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  /** The offset of a position; one beyond a line or the text is moved to its end. */
  offset({ line, character }: Position): number {
    const starts = this.#starts;
    if (line >= starts.length) return this.#text.length;
    const start = starts[Math.max(0, line)]!;
    const next = starts[line + 1] ?? this.#text.length + 1;
    let end = next - 1;
    if (this.#text[end] === "\n" && this.#text[end - 1] === "\r") end--;
    return Math.max(start, Math.min(start + Math.max(0, character), end));
  }

  position(offset: number): Position {
    const starts = this.#starts;
    const line = lastUpTo(starts, offset);
    return { line, character: offset - starts[line]! };
  }

  range({ start, end }: Span): Range {
    return { start: this.position(start), end: this.position(end) };
  }

  span({ start, end }: Range): Span {
    return { start: this.offset(start), end: this.offset(end) };
  }
}
