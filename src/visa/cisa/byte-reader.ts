import type { Span } from "../../source/index.ts";
import type { CisaCode } from "./codes.ts";

/**
 * Thrown where bytes are not what they should be; caught in this folder and reported as a diagnostic. It is not an
 * `Error`, because trying several rows throws many of them, and none needs a stack trace.
 */
export class Malformed {
  readonly code: CisaCode;
  readonly span: Span;
  readonly message: string;

  constructor(code: CisaCode, span: Span, message: string) {
    this.code = code;
    this.span = span;
    this.message = message;
  }
}

/**
 * Reads little-endian fields of a file from `at` on, and never past `end`. Its methods throw `Malformed` if too few
 * bytes are left.
 */
export class ByteReader {
  readonly bytes: Uint8Array;
  /** Offset of the next field in the file. */
  at: number;
  end: number;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  i16(): number {
    return this.#view.getInt16(this.#take(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  i32(): number {
    return this.#view.getInt32(this.#take(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  /** Text of `length` bytes. */
  text(length: number): string {
    const start = this.#take(length);
    return decode(this.bytes.subarray(start, start + length));
  }

  skip(length: number): void {
    this.#take(length);
  }

  /** A NUL-terminated string. */
  string(): string {
    const length = this.bytes.subarray(this.at, this.end).indexOf(0);
    if (length < 0) throw this.truncated();
    const text = this.text(length);
    this.at++;
    return text;
  }

  /**
   * Checks a count of things that take at least `size` bytes each: a count that cannot fit is refused before anything
   * is allocated for it.
   */
  countOf(count: number, size: number, what: string): number {
    if (count * size <= this.end - this.at) return count;
    throw new Malformed("visa-cisa-truncated", { start: this.at, end: this.at }, `no room for ${count} ${what}`);
  }

  truncated(): Malformed {
    return new Malformed("visa-cisa-truncated", { start: this.end, end: this.end }, `${this.#place()} ends too early`);
  }

  #place(): string {
    return this.end === this.bytes.length ? "the file" : "the routine";
  }

  #take(length: number): number {
    if (length > this.end - this.at) throw this.truncated();
    const start = this.at;
    this.at += length;
    return start;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const latin1 = new TextDecoder("latin1");

/** Names are usually UTF-8, which the format does not require; any others are read as Latin-1. */
function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return latin1.decode(bytes);
  }
}
