import type { Elements } from "../runtime/element.ts";
import { generate } from "../runtime/init.ts";
import { integers } from "./bench-kernel.ts";

const drawn = (n: number, seed: number, mod: number): readonly number[] => {
  const elements: Elements = generate("u32", n, integers(seed, mod));
  return Array.from({ length: n }, (_, i) => elements.get(i) as number);
};

/** A square matrix in compressed rows of 8 to 24 elements, in columns at random. */
export function sparseMatrix(rows: number): { readonly start: readonly number[]; readonly column: readonly number[] } {
  const start = [0];
  for (const count of drawn(rows, 3, 17)) start.push(start.at(-1)! + 8 + count);
  return { start, column: drawn(start.at(-1)!, 4, rows) };
}

/** One of four, the same for 32 elements in a row. */
export function coherentSelectors(n: number): readonly number[] {
  const ofWarp = drawn(Math.ceil(n / 32), 3, 4);
  return Array.from({ length: n }, (_, i) => ofWarp[i >> 5]!);
}
