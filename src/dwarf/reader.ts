import type { DebugSection, SymbolReference } from "./sections.ts";

/** Debug information is malformed, or of a kind that is not supported. The message says what and where. */
export class DwarfError extends Error {
  override readonly name = "DwarfError";
}

/** An address: a number, or a place that has a name. */
export type Address = SymbolReference | number;

/** Reads numbers from a part of a section, in order. Nothing is read past the end of the part. */
export class Reader {
  readonly section: DebugSection;
  readonly end: number;
  at: number;
  readonly #view: DataView;

  /** @throws DwarfError if the section has no such part */
  constructor(section: DebugSection, start = 0, end = section.bytes.length) {
    if (start < 0 || start > end || end > section.bytes.length) throw new DwarfError(`there is no offset ${start}`);
    this.section = section;
    this.at = start;
    this.end = end;
    const { buffer, byteOffset, byteLength } = section.bytes;
    this.#view = new DataView(buffer, byteOffset, byteLength);
  }

  get atEnd(): boolean {
    return this.at >= this.end;
  }

  /** Skips bytes, and returns where they begin. */
  skip(count: number): number {
    const { at } = this;
    if (count < 0 || count > this.end - at) throw new DwarfError(`the data ends within a value at offset ${at}`);
    this.at += count;
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.skip(1));
  }

  u16(): number {
    return this.#view.getUint16(this.skip(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.skip(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.skip(8), true);
  }

  /** An unsigned number of 1, 2, 4 or 8 bytes. */
  unsigned(size: number): bigint {
    if (size === 8) return this.u64();
    if (size === 4) return BigInt(this.u32());
    if (size === 2) return BigInt(this.u16());
    if (size === 1) return BigInt(this.u8());
    throw new DwarfError(`numbers of ${size} bytes are not supported`);
  }

  signed(size: number): bigint {
    return BigInt.asIntN(8 * size, this.unsigned(size));
  }

  /** LEB128, unsigned; more than 64 bits are cut off. */
  uleb(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.u8();
      if (shift < 70n) value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
  }

  /** LEB128, signed. */
  sleb(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.u8();
      if (shift < 70n) value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        const bits = Math.min(64, Number(shift) + 7);
        return BigInt.asIntN(64, BigInt.asIntN(bits, value));
      }
    }
  }

  /** A number that has to be small: a length, a code, an offset. */
  small(): number {
    const value = this.uleb();
    if (value > 0xffff_ffffn) throw new DwarfError(`the number ${value} before offset ${this.at} is too large`);
    return Number(value);
  }

  address(size: number): Address {
    const reference = this.section.references.get(this.at);
    const value = this.unsigned(size);
    return reference ?? Number(value);
  }

  /** A string that ends with a zero. */
  string(): string {
    const { bytes } = this.section;
    const start = this.at;
    const end = bytes.indexOf(0, start);
    if (end < 0 || end >= this.end) throw new DwarfError(`the string at offset ${start} does not end`);
    this.at = end + 1;
    return new TextDecoder().decode(bytes.subarray(start, end));
  }
}
