/** A growing byte buffer with the number encodings of WebAssembly's binary format. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #length = 0;
  #view = new DataView(this.#bytes.buffer);

  get length(): number {
    return this.#length;
  }

  /** The bytes written so far, as a view that is valid until the next write. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Appends one byte. */
  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Appends an opcode, which may have a prefix. */
  opcode(prefix: number | null, code: number): void {
    if (prefix === null) this.byte(code);
    else {
      this.byte(prefix);
      this.unsigned(code);
    }
  }

  /** Appends an opcode of one byte, and an index. */
  indexed(code: number, index: number): void {
    this.byte(code);
    this.unsigned(index);
  }

  /** Appends bytes. */
  append(bytes: ArrayLike<number>): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Appends part of other bytes. */
  appendPart(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    this.#reserve(length);
    // Calls of functions of the host take longer than copying a few bytes.
    if (length > 64) this.#bytes.set(bytes.subarray(from, to), this.#length);
    else for (let i = 0; i < length; i++) this.#bytes[this.#length + i] = bytes[from + i]!;
    this.#length += length;
  }

  /** Takes away the bytes from a position on, and returns them. */
  cut(start: number): Uint8Array {
    const bytes = this.#bytes.slice(start, this.#length);
    this.#length = start;
    return bytes;
  }

  /** Appends an unsigned number below 2^32 in LEB128. */
  unsigned(value: number): void {
    let rest = value >>> 0;
    for (; rest > 0x7f; rest >>>= 7) this.byte((rest & 0x7f) | 0x80);
    this.byte(rest);
  }

  /** Appends a signed 32-bit number in LEB128. */
  signed32(value: number): void {
    let rest = value | 0;
    for (; rest < -64 || rest > 63; rest >>= 7) this.byte((rest & 0x7f) | 0x80);
    this.byte(rest & 0x7f);
  }

  /** Appends a signed 64-bit number in LEB128. */
  signed64(value: bigint): void {
    let rest = BigInt.asIntN(64, value);
    for (; rest < -64n || rest > 63n; rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80);
    this.byte(Number(rest & 0x7fn));
  }

  float32(value: number): void {
    this.#reserve(4);
    this.#view.setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** Appends a name: its length in bytes, then its UTF-8 encoding. */
  text(value: string): void {
    const bytes = new TextEncoder().encode(value);
    this.unsigned(bytes.length);
    this.append(bytes);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
