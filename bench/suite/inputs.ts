import { generate } from "../../src/runtime/job/init.ts";
import { elementsInPages, numbersOf } from "./copies.ts";
import { integers } from "./kernel.ts";

const drawn = (n: number, seed: number, mod: number): ArrayLike<number> =>
  numbersOf("u32", generate("u32", n, integers(seed, mod), elementsInPages("u32", n)));

/** A square matrix in compressed rows of 8 to 24 elements, in random columns. */
export function sparseMatrix(rows: number): { readonly start: ArrayLike<number>; readonly column: ArrayLike<number> } {
  const more = drawn(rows, 3, 17);
  const start = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) start[row + 1] = start[row]! + 8 + more[row]!;
  return { start, column: drawn(start[rows]!, 4, rows) };
}

/** Selectors from 0 to 3, each repeated for 32 consecutive elements. */
export function coherentSelectors(n: number): ArrayLike<number> {
  const ofWarp = drawn(Math.ceil(n / 32), 3, 4);
  return Uint32Array.from({ length: n }, (_, i) => ofWarp[i >> 5]!);
}
