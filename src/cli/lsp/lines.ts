import type { Position, Range } from "vscode-languageserver";
import { lastUpTo, type Span } from "../../source/index.ts";

/** Converts between offsets of a text and the protocol's lines and characters, both from 0. */
export class Lines {
  readonly #starts: Uint32Array;
  readonly #length: number;
  /** Where lines end that do not do so one character before the next, by their numbers: those that end with \r\n. */
  readonly #ends: ReadonlyMap<number, number>;
  /** Whether a line ends with \r. */
  readonly #returns: boolean;

  private constructor(starts: Uint32Array, length: number, ends: ReadonlyMap<number, number>, returns: boolean) {
    this.#starts = starts;
    this.#length = length;
    this.#ends = ends;
    this.#returns = returns;
  }

  /** The lines of a text. One ends with \n, \r\n or \r, as the protocol has it. */
  static of(text: string): Lines {
    const starts: number[] = [0];
    const ends = new Map<number, number>();
    const returns = text.includes("\r");
    if (returns) {
      for (const { index, 0: ending } of text.matchAll(/\r\n?|\n/g)) {
        if (ending.length > 1) ends.set(starts.length - 1, index);
        starts.push(index + ending.length);
      }
    } else for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    return new Lines(Uint32Array.from(starts), text.length, ends, returns);
  }

  /** The lines after a range was replaced by a text; null if the whole text has to be looked at for that. */
  edited({ start, end }: Span, text: string): Lines | null {
    if (this.#returns || text.includes("\r")) return null;
    const inner: number[] = [];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) inner.push(start + at + 1);
    const before = this.#starts.subarray(0, lastUpTo(this.#starts, start) + 1);
    const after = this.#starts.subarray(lastUpTo(this.#starts, end) + 1);
    const shift = text.length - (end - start);
    const starts = new Uint32Array(before.length + inner.length + after.length);
    starts.set(before);
    starts.set(inner, before.length);
    for (let from = before.length + inner.length, i = 0; i < after.length; i++) starts[from + i] = after[i]! + shift;
    return new Lines(starts, this.#length + shift, this.#ends, false);
  }

  /** The offset of a position; one beyond a line or the text is moved to its end. */
  offset({ line, character }: Position): number {
    const starts = this.#starts;
    if (line >= starts.length) return this.#length;
    const row = Math.max(0, line);
    const start = starts[row]!;
    const end = this.#ends.get(row) ?? (starts[row + 1] ?? this.#length + 1) - 1;
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
