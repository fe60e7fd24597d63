import { readUnaligned, type Views, writeUnaligned } from "./views.ts";

/*
 * Updates of elements that other threads of the host may be updating too: compiled code does so with the atomic
 * operations of WebAssembly, which these are of one kind with.
 */

/** Replaces an element as one atomic operation. Returns what it was. */
export function updateWord(
  words: Uint16Array | Int32Array | Uint32Array,
  index: number,
  next: (old: number) => number,
): number {
  let old = Atomics.load(words, index);
  for (;;) {
    const seen = Atomics.compareExchange(words, index, old, next(old));
    if (seen === old) return old;
    old = seen;
  }
}

/** Replaces an element of 64 bits as `updateWord` does. */
export function updateLong(words: BigInt64Array, index: number, next: (old: bigint) => bigint): bigint {
  let old = Atomics.load(words, index);
  for (;;) {
    const seen = Atomics.compareExchange(words, index, old, next(old));
    if (seen === old) return old;
    old = seen;
  }
}

/**
 * Replaces an element of 16 bits, which are extended with zeros, of 32, or of 64 (a bigint). Returns what it was. At a
 * multiple of its size it is one atomic operation; elsewhere nothing but the launching thread updates elements.
 */
export function updateElement(
  views: Views,
  at: number,
  bits: 16 | 32 | 64,
  next: (old: number | bigint) => number | bigint,
): number | bigint {
  if (at % (bits / 8) !== 0) {
    const old = readUnaligned(views, at, bits, false);
    writeUnaligned(views, at, bits, next(old));
    return old;
  }
  if (bits === 64) return updateLong(views.i64, at >>> 3, (old) => BigInt(next(old)));
  return bits === 32
    ? updateWord(views.i32, at >>> 2, (old) => Number(next(old)))
    : updateWord(views.u16, at >>> 1, (old) => Number(next(old)));
}
