import { readFileSync } from "node:fs";

/** The bytes of an annotated file: `;` begins a comment. */
export function fixture(name: string): Uint8Array {
  const text = readFileSync(new URL(`fixtures/${name}.hex`, import.meta.url), "utf8");
  const digits = text.replace(/;.*$/gm, "").match(/[0-9a-f]{2}/g) ?? [];
  return Uint8Array.from(digits, (byte) => Number.parseInt(byte, 16));
}
