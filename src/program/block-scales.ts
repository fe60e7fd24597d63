import { type MatrixProduct, scaleLaneOfColumn, scaleLaneOfRow, type ScaleSelector } from "../ir/index.ts";
import { powerOfTwo } from "../numeric/binary64-bits.ts";
import { blockScale } from "../numeric/block-scale.ts";
import type { GroupScales } from "../numeric/tensor.ts";

/** Scales of the rows of A or of the columns of B: `groups` for each, of groups of equal size. */
export interface LineScales extends GroupScales {
  /** The first scale of the row or column that is multiplied. */
  at: number;
  readonly groups: number;
}

/** The scale of element `e`, of `k`, of the row or column that is multiplied. */
export function scaleAt({ at, groups, significands, exponents }: LineScales, e: number, k: number): number {
  const group = at + Math.floor((e * groups) / k);
  return significands[group]! * powerOfTwo(exponents[group]!);
}

/**
 * Reads the scales of A and of B from operands, of which each has a word for each lane, from `at` on. There are as many
 * for each row and column as there are groups of elements that are summed before they are scaled, or one.
 */
export function blockScales(
  { m, n, scales, rule }: MatrixProduct,
  words: Int32Array,
  at: number,
): readonly [a: LineScales, b: LineScales] {
  const { format, blocks, a, b } = scales!;
  const groups = rule.kind === "sum" ? 1 : 4;
  let next = at;
  const take = (): Int32Array => words.subarray(next, (next += 32));
  const read = (
    { byte: fixedByte, thread: fixedThread }: ScaleSelector,
    lines: number,
    laneOf: (line: number, thread: number) => number,
  ): LineScales => {
    const data = take();
    // Constants, or what the first lane has: all lanes must have the same.
    const [byte, thread] = [fixedByte ?? take()[0]!, fixedThread ?? take()[0]!];
    const count = lines * groups;
    const found = { at: 0, groups, significands: new Float64Array(count), exponents: new Int32Array(count) };
    for (let i = 0; i < count; i++) {
      const word = data[laneOf(Math.floor(i / groups), thread)]!;
      const block = Math.floor(((i % groups) * blocks) / groups);
      const { significand, exponent } = blockScale(format, (word >>> (8 * ((byte + block) & 3))) & 0xff);
      found.significands[i] = significand;
      found.exponents[i] = exponent;
    }
    return found;
  };
  return [read(a, m, scaleLaneOfRow), read(b, n, scaleLaneOfColumn)];
}
