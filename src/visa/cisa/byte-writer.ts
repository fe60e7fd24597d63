const utf8 = new TextEncoder();

/** Collects little-endian fields into bytes. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    const start = this.#grow(1);
    this.#view.setUint8(start, value);
  }

  u16(value: number): void {
    const start = this.#grow(2);
    this.#view.setUint16(start, value, true);
  }

  u32(value: number): void {
    const start = this.#grow(4);
    this.#view.setUint32(start, value, true);
  }

  u64(value: bigint): void {
    const start = this.#grow(8);
    this.#view.setBigUint64(start, value, true);
  }

  /** Writes a text as UTF-8, without its length and without a NUL. */
  text(text: string): void {
    this.bytes(utf8.encode(text));
  }

  bytes(bytes: Uint8Array): void {
    const start = this.#grow(bytes.length);
    this.#bytes.set(bytes, start);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #grow(by: number): number {
    const start = this.#length;
    this.#length += by;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return start;
  }
}
