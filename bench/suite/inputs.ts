import { generate } from "../../src/runtime/job/init.ts";
import { elementsInPages, numbersOf } from "./copies.ts";
import { integers } from "./kernel.ts";

const drawn = (n: number, seed: number, mod: number): ArrayLike<number> =>
  numbersOf("u32", generate("u32", n, integers(seed, mod), elementsInPages("u32", n)));

/** A square matrix in compressed rows of 8 elements and fewer than `most` more, in random columns. */
export function sparseMatrix(
  rows: number,
  most = 17,
): { readonly start: ArrayLike<number>; readonly column: ArrayLike<number> } {
  const more = drawn(rows, 3, most);
  const start = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) start[row + 1] = start[row]! + 8 + more[row]!;
  return { start, column: drawn(start[rows]!, 4, rows) };
}

/** Selectors from 0 to 3, each repeated for 32 consecutive elements. */
export function coherentSelectors(n: number): ArrayLike<number> {
  const ofWarp = drawn(Math.ceil(n / 32), 3, 4);
  return Uint32Array.from({ length: n }, (_, i) => ofWarp[i >> 5]!);
}

/** The columns and diagonals that three queens in the first rows of a board take, for all places where they may be. */
export function queenStarts(size: number): readonly (readonly [columns: number, left: number, right: number])[] {
  const all = 2 ** size - 1;
  let starts: (readonly [number, number, number])[] = [[0, 0, 0]];
  for (let row = 0; row < 3; row++) {
    starts = starts.flatMap(([columns, left, right]) =>
      Array.from({ length: size }, (_, x) => 2 ** x)
        .filter((place) => (place & (columns | left | right)) === 0)
        .map((place) => [columns | place, ((left | place) << 1) & all, (right | place) >> 1] as const),
    );
  }
  return starts;
}

/** Square matrices, one after the other, whose diagonals are so large that elimination needs no pivots. */
export const dominantMatrices = (count: number, side: number): readonly number[] =>
  Array.from({ length: count * side * side }, (_, i) => {
    const isDiagonal = i % side === Math.floor(i / side) % side;
    return ((Math.imul(i, 0x9e3779b1) >>> 8) & 0xffff) / 2 ** 16 + (isDiagonal ? side : 0);
  });
