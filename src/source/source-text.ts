/** A half-open range of UTF-16 offsets into one source text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Lines and columns count from 1; a column counts UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One file, or a string that stands for one. Everything that carries a `Span` refers to exactly one `SourceText`. */
export class SourceText {
  readonly path: string;
  readonly text: string;
  #lineStarts: Uint32Array | null = null;

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
  }

  /** The offset at which each line begins; built on first use, because most files never need it. */
  get lineStarts(): Uint32Array {
    if (this.#lineStarts === null) {
      const starts = [0];
      for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) starts.push(at + 1);
      this.#lineStarts = Uint32Array.from(starts);
    }
    return this.#lineStarts;
  }

  position(offset: number): Position {
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.max(0, Math.min(offset, this.text.length) - starts[low]!) + 1 };
  }

  /** The text of a line (counting from 1) without its line end. */
  line(number: number): string {
    const starts = this.lineStarts;
    const start = starts[number - 1];
    if (start === undefined) return "";
    return this.text.slice(start, starts[number] ?? this.text.length).replace(/\r?\n$/, "");
  }

  slice(span: Span): string {
    return this.text.slice(span.start, span.end);
  }
}
