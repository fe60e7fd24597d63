import { errors, fail } from "./errors.ts";

/** The memory of the program, as far as the server can reach it. Both return whether all of it was there. */
export interface HostAccess {
  read(address: bigint, into: Uint8Array): boolean;
  write(address: bigint, bytes: Uint8Array): boolean;
}

/** Strings of programs are no longer than this. */
const maxString = 1 << 20;

/** The memory of the program, with the values in it. An address that is not mapped is an invalid value. */
export class HostMemory {
  readonly #access: HostAccess;

  constructor(access: HostAccess) {
    this.#access = access;
  }

  /** Fills `into` from the program's memory. */
  readInto(address: bigint, into: Uint8Array): void {
    if (into.length > 0 && !this.#access.read(address, into)) fail(errors.invalidValue);
  }

  read(address: bigint, bytes: number): Uint8Array {
    const into = new Uint8Array(bytes);
    this.readInto(address, into);
    return into;
  }

  view(address: bigint, bytes: number): DataView {
    return new DataView(this.read(address, bytes).buffer);
  }

  write(address: bigint, bytes: Uint8Array): void {
    if (bytes.length > 0 && !this.#access.write(address, bytes)) fail(errors.invalidValue);
  }

  u32(address: bigint): number {
    return this.view(address, 4).getUint32(0, true);
  }

  u64(address: bigint): bigint {
    return this.view(address, 8).getBigUint64(0, true);
  }

  /** `count` words of 64 bits. */
  words(address: bigint, count: number): readonly bigint[] {
    return Array.from(new BigUint64Array(this.read(address, 8 * count).buffer));
  }

  /** A string up to its zero. Pages are read one by one, as the next one may not be mapped. */
  string(address: bigint): string {
    const parts: Uint8Array[] = [];
    for (let at = address, total = 0; total < maxString; ) {
      const part = this.read(at, 4096 - Number(at & 4095n));
      const end = part.indexOf(0);
      parts.push(end < 0 ? part : part.subarray(0, end));
      if (end >= 0) break;
      at += BigInt(part.length);
      total += part.length;
    }
    const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return new TextDecoder().decode(bytes);
  }
}
