import type { Shade } from "./shade.ts";

/** The undefined bits of a range of bytes, and where each byte was first read. */
export class ByteShadow {
  readonly bits: Uint8Array;
  readonly #words: Int32Array;
  #origins: Uint16Array | null = null;

  /** `bytes`: their number, none of them undefined; or their undefined bits, in whole words, which are changed. */
  constructor(bytes: number | Uint8Array) {
    const { buffer, byteOffset, length } = typeof bytes === "number" ? new Uint8Array(Math.ceil(bytes / 4) * 4) : bytes;
    this.#words = new Int32Array(buffer, byteOffset, length / 4);
    this.bits = new Uint8Array(buffer, byteOffset, length);
  }

  get size(): number {
    return this.bits.length;
  }

  /** Whether there may be undefined bits in `[from, to)`, extended to whole words. */
  mayHave(from: number, to: number): boolean {
    const words = this.#words;
    for (let w = from >> 2; w < (to + 3) >> 2; w++) if (words[w] !== 0) return true;
    return false;
  }

  /** The same for the bytes of one element. */
  has(at: number, bytes: number): boolean {
    if (bytes === 4 && (at & 3) === 0) return this.#words[at >> 2] !== 0;
    for (let b = at; b < at + bytes; b++) if (this.bits[b] !== 0) return true;
    return false;
  }

  define(from: number, to: number): void {
    this.bits.fill(0, from, to);
  }

  defineElement(at: number, bytes: number): void {
    if (bytes === 4 && (at & 3) === 0) this.#words[at >> 2] = 0;
    else for (let b = at; b < at + bytes; b++) this.bits[b] = 0;
  }

  /** Marks bytes as never written. */
  forget(from: number, to: number): void {
    this.bits.fill(0xff, from, to);
    this.#origins?.fill(0, from, to);
  }

  /** Reads up to eight bytes; their origin is that of the first undefined one. */
  read(at: number, bytes: number, into: Shade): void {
    into.low = into.high = into.origin = 0;
    let found = false;
    for (let b = 0; b < bytes; b++) {
      const bits = this.bits[at + b] ?? 0;
      if (bits === 0) continue;
      if (b < 4) into.low |= bits << (8 * b);
      else into.high |= bits << (8 * (b - 4));
      if (!found) into.origin = this.#origins?.[at + b] ?? 0;
      found = true;
    }
  }

  write(at: number, bytes: number, { low, high, origin }: Shade): void {
    if (origin !== 0) this.#origins ??= new Uint16Array(this.bits.length);
    for (let b = 0; b < bytes; b++) {
      this.bits[at + b] = b < 4 ? low >>> (8 * b) : high >>> (8 * (b - 4));
      if (this.#origins !== null) this.#origins[at + b] = origin;
    }
  }

  copy(from: ByteShadow, start: number, to: number, bytes: number): void {
    this.bits.set(from.bits.subarray(start, start + bytes), to);
    if (from.#origins === null) this.#origins?.fill(0, to, to + bytes);
    else {
      this.#origins ??= new Uint16Array(this.bits.length);
      this.#origins.set(from.#origins.subarray(start, start + bytes), to);
    }
  }

  /** Gives bytes that have not been read yet an origin. */
  readFirst(from: number, to: number, origin: number): void {
    const origins = (this.#origins ??= new Uint16Array(this.bits.length));
    for (let b = from; b < to; b++) if (this.bits[b] !== 0 && origins[b] === 0) origins[b] = origin;
  }
}
