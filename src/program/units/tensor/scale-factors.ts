import type { TensorInstruction } from "../../../ir/index.ts";

/** The scales of an operand, which are bytes of tensor memory (section 9.7.16.10.7). */
export interface ScaleLayout {
  /** Scales of a row of A or column of B, which has as many blocks of elements along k. */
  readonly count: number;
  /** The byte of the first scale in the words of a line. */
  readonly firstByte: number;
}

/** How many scales a line has, and where; or why they cannot be there. `size`: with k a power of two. */
export function scaleLayout(size: 1 | 2 | 4, { k }: Pick<TensorInstruction, "k">, id: number): ScaleLayout | string {
  const three = k === 96;
  const allowed = size === 1 || (three && size === 2) ? [0, 1, 2, 3] : size === 2 || three ? [0, 2] : [0];
  if (!allowed.includes(id)) return `the scale factor ID is ${id}, and can be ${allowed.join(" or ")}`;
  return { count: three ? (size * 3) / 2 : size, firstByte: id };
}

/**
 * The byte of a scale: line i has its scales in lane i modulo 32 of each 32 lanes, in the word of column i / 32, and,
 * of those that are not in it, in the word after those of all other lines (K = 96; the manual has pictures of it, and
 * CUTLASS tiles scales in this order).
 */
export function scalePlace(
  { firstByte }: ScaleLayout,
  lines: number,
  line: number,
  index: number,
): { readonly lane: number; readonly column: number; readonly byte: number } {
  const byte = firstByte + index;
  return { lane: line & 31, column: (line >> 5) + (byte >> 2) * Math.ceil(lines / 32), byte: byte & 3 };
}

/** Columns that the scales of some lines need. */
export const scaleColumns = ({ count, firstByte }: ScaleLayout, lines: number): number =>
  Math.ceil(lines / 32) * Math.ceil((firstByte + count) / 4);
