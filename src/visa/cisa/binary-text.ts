import { type Position, SourceText, type Span } from "../../source/index.ts";

const bytesPerLine = 16;
/** Column of the first byte of a line, after "0000031f  ". */
const firstColumn = 11;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/**
 * A binary file as the source of diagnostics. Its text is a hex dump, its offsets are those of bytes. A diagnostic at a
 * byte shows that line of the dump, as `xxd` prints it, with the byte underlined.
 */
export class BinaryText extends SourceText {
  readonly #bytes: Uint8Array;

  constructor(path: string, bytes: Uint8Array) {
    // Lines of the dump are made on demand: few of a file's lines are ever shown.
    super(path, "");
    this.#bytes = bytes;
  }

  override position(offset: number): Position {
    const at = Math.max(0, Math.min(offset, this.#bytes.length));
    return { line: Math.floor(at / bytesPerLine) + 1, column: firstColumn + 3 * (at % bytesPerLine) };
  }

  override line(number: number): string {
    const start = (number - 1) * bytesPerLine;
    const bytes = [...this.#bytes.subarray(start, start + bytesPerLine)];
    const characters = bytes.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "."));
    const dump = bytes.map((byte) => hex(byte, 2)).join(" ");
    return `${hex(start, 8)}  ${dump.padEnd(3 * bytesPerLine)} ${characters.join("")}`;
  }

  override slice(span: Span): string {
    return [...this.#bytes.subarray(span.start, span.end)].map((byte) => hex(byte, 2)).join(" ");
  }
}
