/** Reads the number encodings of WebAssembly's binary format: the opposite of `ByteWriter`. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
  }

  get position(): number {
    return this.#at;
  }

  get atEnd(): boolean {
    return this.#at >= this.#end;
  }

  byte(): number {
    return this.#bytes[this.#at++]!;
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  bytes(count: number): Uint8Array {
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** A reader of the next bytes, which are skipped. */
  part(count: number): ByteReader {
    this.#at += count;
    return new ByteReader(this.#bytes, this.#at - count, this.#at);
  }

  /** All bytes that have not been read. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at, this.#end);
  }

  unsigned(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  signed32(): number {
    return Number(this.signed64()) | 0;
  }

  signed64(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, byte >= 0x40 ? value - (1n << (shift + 7n)) : value);
    }
  }

  text(): string {
    return new TextDecoder().decode(this.bytes(this.unsigned()));
  }

  list<T>(item: (from: ByteReader) => T): T[] {
    const items: T[] = [];
    const count = this.unsigned();
    for (let i = 0; i < count; i++) items.push(item(this));
    return items;
  }
}
