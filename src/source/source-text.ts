/** A half-open range of offsets into one source text, in UTF-16 units. */
export interface Span {
  /** Offset of the first unit. */
  readonly start: number;
  /** Offset after the last unit. */
  readonly end: number;
}

/** A position in a source text. Lines and columns count from 1; columns are UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The index of the last of ascending numbers that is not above `most`; 0 if all are. */
export function lastUpTo(ascending: ArrayLike<number>, most: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ascending[middle]! <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The text of one file, or of a string that stands for one. A `Span` always belongs to exactly one `SourceText`. */
export class SourceText {
  /** The path or other name by which messages refer to the text. */
  readonly path: string;
  /** The whole text. */
  readonly text: string;
  #lineStarts: Uint32Array | null = null;

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
  }

  /** The offset at which each line begins. Computed on first use, because most files never need it. */
  get lineStarts(): Uint32Array {
    if (this.#lineStarts === null) {
      const starts = [0];
      for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) starts.push(at + 1);
      this.#lineStarts = Uint32Array.from(starts);
    }
    return this.#lineStarts;
  }

  /** Returns the line and column of an offset; offsets outside the text are clamped. */
  position(offset: number): Position {
    const starts = this.lineStarts;
    const line = lastUpTo(starts, offset);
    return { line: line + 1, column: Math.max(0, Math.min(offset, this.text.length) - starts[line]!) + 1 };
  }

  /** Returns a line's text without its line end. Lines count from 1; a line that does not exist is empty. */
  line(number: number): string {
    const starts = this.lineStarts;
    const start = starts[number - 1];
    if (start === undefined) return "";
    return this.text.slice(start, starts[number] ?? this.text.length).replace(/\r?\n$/, "");
  }

  /** Returns the text of a span. */
  slice(span: Span): string {
    return this.text.slice(span.start, span.end);
  }
}
