import type { TensorReduction } from "../../../ir/index.ts";

const canonicalNan = 0x7fff_ffff;

const isNan = (word: number): boolean => (word & 0x7fff_ffff) > 0x7f80_0000;

/** The order of floats that are not NaN, with -0 below 0, as that of integers. */
const ordered = (word: number): number => (word < 0 ? word ^ 0x7fff_ffff : word);

/**
 * Combines the words of a lane (`tcgen05.ld.red`, section 9.7.16.8.3). Floats are compared as `min` and `max` do it: a
 * NaN is left out, or with `nan` it is the result.
 */
export function reduceWords({ op, type, abs, nan }: TensorReduction, words: readonly number[]): number {
  if (type !== "f32") {
    const values = words.map((word) => (type === "u32" ? word >>> 0 : word));
    return (op === "min" ? Math.min(...values) : Math.max(...values)) | 0;
  }
  const values = abs ? words.map((word) => word & 0x7fff_ffff) : words;
  if (nan && values.some(isNan)) return canonicalNan;
  const numbers = values.filter((word) => !isNan(word)).map(ordered);
  if (numbers.length === 0) return canonicalNan;
  return ordered(op === "min" ? Math.min(...numbers) : Math.max(...numbers));
}
