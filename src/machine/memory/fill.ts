import type { Views } from "./views.ts";

/** Fewer bytes are written one by one: that takes less than to make eight of them. */
const minWords = 64;

/**
 * Fills bytes `[from, to)` with an element of so many bytes, again and again from `from` on; the last may be cut off.
 * V8 fills memory that threads share element by element, so that `u8.fill` takes eight times as long.
 */
export function fillBytes({ u8, i64 }: Views, from: number, to: number, value = 0, elementBytes = 1): void {
  const byteAt = (i: number): number => (value >>> (8 * ((i - from) % elementBytes))) & 255;
  const first = to - from < minWords ? to : Math.ceil(from / 8) * 8;
  const end = Math.max(first, Math.floor(to / 8) * 8);
  for (let i = from; i < first; i++) u8[i] = byteAt(i);
  for (let i = end; i < to; i++) u8[i] = byteAt(i);
  if (first === end) return;
  // Elements of 1, 2, 4 and 8 bytes are at the same place in each group of eight.
  let word = 0n;
  for (let i = 0; i < 8; i++) word |= BigInt(byteAt(first + i)) << BigInt(8 * i);
  i64.fill(BigInt.asIntN(64, word), first / 8, end / 8);
}

/** A copy of bytes, in memory that is not shared. `slice` takes ten times as long where threads share the memory. */
export function copiedBytes(u8: Uint8Array, from: number, to: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(to - from);
  copy.set(u8.subarray(from, to));
  return copy;
}
