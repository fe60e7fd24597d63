import { byteAt, ContainerError } from "./container-error.ts";

const maxName = 4096;
const latin1 = new TextDecoder("latin1");

/** Bytes of a file, of which every read is checked. Numbers are little-endian. */
export class ByteView {
  readonly bytes: Uint8Array;
  /** What messages call the bytes. */
  readonly #what: string;
  readonly #data: DataView;

  constructor(bytes: Uint8Array, what: string) {
    this.bytes = bytes;
    this.#what = what;
    this.#data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.bytes.length;
  }

  u8(at: number): number {
    this.#require(at, 1);
    return this.#data.getUint8(at);
  }

  u16(at: number): number {
    this.#require(at, 2);
    return this.#data.getUint16(at, true);
  }

  u32(at: number): number {
    this.#require(at, 4);
    return this.#data.getUint32(at, true);
  }

  /** A 64-bit number; one that no file can need reads as infinity, which every check of a size refuses. */
  u64(at: number): number {
    this.#require(at, 8);
    const value = this.#data.getBigUint64(at, true);
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : Number.POSITIVE_INFINITY;
  }

  /** The bytes from `at`, not copied. */
  slice(at: number, size: number): Uint8Array {
    this.#require(at, size);
    return this.bytes.subarray(at, at + size);
  }

  /** The bytes before `end` alone, at the same places. */
  until(end: number): ByteView {
    this.#require(0, end);
    return new ByteView(this.bytes.subarray(0, end), this.#what);
  }

  /** The text from `at` up to a NUL; a name that is longer than names are is cut. */
  text(at: number, most = maxName): string {
    this.#require(at, 0);
    const bytes = this.bytes.subarray(at, at + most);
    const end = bytes.indexOf(0);
    return latin1.decode(end < 0 ? bytes : bytes.subarray(0, end));
  }

  fail(message: string, at: number): never {
    throw new ContainerError(`${this.#what}: ${message} (at ${byteAt(at)})`);
  }

  #require(at: number, size: number): void {
    if (at >= 0 && size >= 0 && at + size <= this.length) return;
    const where = at < 0 || at > this.length ? this.length : at;
    this.fail(`ends after ${this.length} bytes, within what should be there`, where);
  }
}
