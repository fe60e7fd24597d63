import type { Access } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";

/** Elements of four words, one for each lane, that begin at a byte of each; extended to words. */
export function partOfWords({ bits, signed }: Pick<Access, "bits" | "signed">, byte: number, words: Wasm): Wasm {
  if (bits >= 32) return words;
  const above = 32 - bits - 8 * byte;
  if (signed) {
    const high = above === 0 ? words : wasm.op("i32x4.shl", words, wasm.i32(above));
    return wasm.op("i32x4.shr_s", high, wasm.i32(32 - bits));
  }
  const low = byte === 0 ? words : wasm.op("i32x4.shr_u", words, wasm.i32(8 * byte));
  return above === 0 ? low : wasm.op("v128.and", low, wasm.i32x4(2 ** bits - 1));
}

/** Words, one for each lane, from the low bits of two or four vectors: the first are the lowest. */
export function wordsOfParts(parts: readonly Wasm[], bits: 8 | 16): Wasm {
  const bytes = bits / 8;
  const size = parts.length * bytes;
  const half = parts.length / 2;
  const [a, b] = half === 1 ? parts : [wordsOfParts(parts.slice(0, half), bits), wordsOfParts(parts.slice(half), bits)];
  const places = [0, 4, 8, 12].flatMap((lane) =>
    [0, 1, 2, 3].map((i) => lane + (i < size / 2 ? i : i < size ? 16 + i - size / 2 : i)),
  );
  return wasm.shuffle(a!, b!, places);
}
