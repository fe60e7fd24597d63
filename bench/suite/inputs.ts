import { generate } from "../../src/runtime/job/init.ts";
import { elementsInPages, numbersOf } from "./copies.ts";
import { type BenchPlan, input, integers, noise, output } from "./kernel.ts";

const drawn = (n: number, seed: number, mod: number): ArrayLike<number> =>
  numbersOf("u32", generate("u32", n, integers(seed, mod), elementsInPages("u32", n)));

/**
 * A square matrix in compressed rows of 8 elements and fewer than `most` more, in random columns, and the vectors of its
 * product with one.
 */
export function sparseProduct(rows: number, most = 17): BenchPlan["buffers"] {
  const more = drawn(rows, 3, most);
  const start = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) start[row + 1] = start[row]! + 8 + more[row]!;
  const elements = start[rows]!;
  return {
    start: input("s32", start.length, { gen: "list", values: start }),
    column: input("s32", elements, { gen: "list", values: drawn(elements, 4, rows) }),
    value: input("f32", elements, noise(1, -1, 1)),
    x: input("f32", rows, noise(2, -1, 1)),
    y: output("f32", rows),
  };
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
