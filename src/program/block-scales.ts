import { type MatrixProduct, scaleLaneOfColumn, scaleLaneOfRow, type ScaleSelector } from "../ir/index.ts";
import { type Scale, scaleOf } from "../numeric/tensor-blocks.ts";

/** The scales of each row of A, and of each column of B, by block. */
export interface Scales {
  readonly a: readonly (readonly Scale[])[];
  readonly b: readonly (readonly Scale[])[];
}

/** Reads the scales of a product from operands, of which each has a word for each lane, from `at` on. */
export function blockScales({ m, n, scales }: MatrixProduct, words: Int32Array, at: number): Scales {
  const { format, blocks, a, b } = scales!;
  let next = at;
  const take = (): Int32Array => words.subarray(next, (next += 32));
  /** Constants, or what the first lane has: all lanes must have the same. */
  const selected = ({ byte, thread }: ScaleSelector): readonly [data: Int32Array, byte: number, thread: number] => {
    const data = take();
    return [data, byte ?? take()[0]!, thread ?? take()[0]!];
  };
  const [left, right] = [selected(a), selected(b)];
  const read = (count: number, laneOf: (line: number, thread: number) => number, [data, byte, thread]: typeof left) =>
    Array.from({ length: count }, (_, line) => {
      const word = data[laneOf(line, thread)]!;
      return Array.from({ length: blocks }, (__, i) => scaleOf(format, (word >>> (8 * ((byte + i) & 3))) & 0xff));
    });
  return { a: read(m, scaleLaneOfRow, left), b: read(n, scaleLaneOfColumn, right) };
}
