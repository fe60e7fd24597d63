/** Collects little-endian fields. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    this.#view.setUint8(this.#grow(1), value);
  }

  u16(value: number): void {
    this.#view.setUint16(this.#grow(2), value, true);
  }

  u32(value: number): void {
    this.#view.setUint32(this.#grow(4), value, true);
  }

  u64(value: bigint): void {
    this.#view.setBigUint64(this.#grow(8), value, true);
  }

  /** A byte for each character, as `ByteReader` reads them. */
  characters(text: string): void {
    for (let i = 0; i < text.length; i++) this.u8(text.charCodeAt(i));
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
