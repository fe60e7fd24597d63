import { type Wasm, wasm } from "../../../wasm/index.ts";

/**
 * A shuffle of two vectors by elements of `bytes` bytes, which are numbered through the first vector, then the second.
 */
export const shuffled = (a: Wasm, b: Wasm, bytes: number, elements: readonly number[]): Wasm =>
  wasm.shuffle(
    a,
    b,
    elements.flatMap((e) => Array.from({ length: bytes }, (_, i) => e * bytes + i)),
  );

/** Transposes vectors of records (as many vectors as a record has elements) into one vector for each element. */
export function transposed(v: readonly Wasm[], bits: number): readonly Wasm[] {
  if (bits === 64) return [shuffled(v[0]!, v[1]!, 8, [0, 2]), shuffled(v[0]!, v[1]!, 8, [1, 3])];
  if (v.length === 2) return [wasm.shuffle32(v[0]!, v[1]!, [0, 2, 4, 6]), wasm.shuffle32(v[0]!, v[1]!, [1, 3, 5, 7])];
  const [a, b] = [wasm.shuffle32(v[0]!, v[1]!, [0, 4, 1, 5]), wasm.shuffle32(v[2]!, v[3]!, [0, 4, 1, 5])];
  const [c, d] = [wasm.shuffle32(v[0]!, v[1]!, [2, 6, 3, 7]), wasm.shuffle32(v[2]!, v[3]!, [2, 6, 3, 7])];
  return [
    wasm.shuffle32(a, b, [0, 1, 4, 5]),
    wasm.shuffle32(a, b, [2, 3, 6, 7]),
    wasm.shuffle32(c, d, [0, 1, 4, 5]),
    wasm.shuffle32(c, d, [2, 3, 6, 7]),
  ];
}

/** The inverse of `transposed`: vectors of one element each to vectors of records. */
export function interleaved(v: readonly Wasm[], bits: number): readonly Wasm[] {
  if (v.length === 1) return v;
  if (bits === 32 && v.length === 2)
    return [wasm.shuffle32(v[0]!, v[1]!, [0, 4, 1, 5]), wasm.shuffle32(v[0]!, v[1]!, [2, 6, 3, 7])];
  return transposed(v, bits);
}
