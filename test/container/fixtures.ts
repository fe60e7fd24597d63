import { readFileSync } from "node:fs";

/** The bytes of a file in `fixtures/`, whose README says how it was made. */
export const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`fixtures/${name}`, import.meta.url)));

const header = (name: string, size: number): string =>
  `${name.padEnd(16)}${"0".padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"644".padEnd(8)}${String(size).padEnd(10)}\`\n`;

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export const joined = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(parts));

/** An archive of `ar` with names as they are given; BSD's long ones stand before the contents. */
export const archiveOf = (members: readonly (readonly [name: string, bytes: Uint8Array])[]): Uint8Array =>
  joined(
    utf8("!<arch>\n"),
    ...members.flatMap(([name, bytes]) => [
      utf8(header(name, bytes.length)),
      bytes,
      utf8(bytes.length % 2 === 1 ? "\n" : ""),
    ]),
  );

/** A fat binary of one entry. */
export function fatBinaryOf(payload: Uint8Array, entry: FatEntry): Uint8Array {
  const padded = (payload.length + 7) & ~7;
  const bytes = new Uint8Array(16 + 64 + padded);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0xba55ed50, true);
  view.setUint16(4, 1, true);
  view.setUint16(6, 16, true);
  view.setBigUint64(8, BigInt(64 + padded), true);
  view.setUint16(16, 1, true);
  view.setUint32(20, 64, true);
  view.setBigUint64(24, BigInt(padded), true);
  view.setUint32(32, payload.length, true);
  view.setUint16(42, 9, true);
  view.setUint32(44, 75, true);
  view.setUint32(56, entry.flags, true);
  view.setBigUint64(72, BigInt(entry.size), true);
  bytes.set(payload, 80);
  return bytes;
}

interface FatEntry {
  readonly flags: number;
  /** The size without compression. */
  readonly size: number;
}
