import type { ByteView } from "../byte-view.ts";

/** The bits of some bytes, of which the last is read first (RFC 8878, section 4.1): its highest 1 ends the stream. */
export class BackwardBits {
  readonly #view: ByteView;
  readonly #bytes: Uint8Array;
  readonly #from: number;
  /** Bits that have not been read; below 0 if more were skipped than there are. */
  #left: number;

  constructor(view: ByteView, from: number, end: number) {
    if (end <= from) view.fail("a bitstream is empty", from);
    const last = view.u8(end - 1);
    if (last === 0) view.fail("a bitstream does not say where it ends", end - 1);
    this.#view = view;
    this.#bytes = view.bytes;
    this.#from = from;
    this.#left = (end - from) * 8 - 1 - Math.clz32(last << 24);
  }

  get left(): number {
    return this.#left;
  }

  /** The next bits, 24 at most, as a number. Behind the end there are zeros. */
  peek(count: number): number {
    const low = this.#left - count;
    if (low < 0) return this.#left <= 0 ? 0 : this.peek(this.#left) << -low;
    const bytes = this.#bytes;
    const at = this.#from + (low >> 3);
    const word =
      at + 3 < bytes.length
        ? bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
        : this.#lastWord(at);
    return (word >>> (low & 7)) & ((1 << count) - 1);
  }

  skip(count: number): void {
    this.#left -= count;
  }

  /** Reads bits, 31 at most. */
  take(count: number): number {
    if (count > this.#left) this.#view.fail("a bitstream ends too early", this.#from);
    if (count > 24) return this.take(count - 16) * 0x1_0000 + this.take(16);
    const value = this.peek(count);
    this.#left -= count;
    return value;
  }

  /** Requires that all bits have been used, and not more. */
  finish(): void {
    if (this.#left < 0) this.#view.fail("a bitstream ends too early", this.#from);
    if (this.#left > 0) this.#view.fail(`${this.#left} bits of a bitstream are left over`, this.#from);
  }

  #lastWord(at: number): number {
    let word = 0;
    for (let i = 0; i < 4 && at + i < this.#bytes.length; i++) word |= this.#bytes[at + i]! << (8 * i);
    return word;
  }
}
