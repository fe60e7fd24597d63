import { exponentOf, powerOfTwo } from "./binary64-bits.ts";
import { minifloats, minifloatToNumber } from "./minifloat.ts";
import { type TensorLine, truncated, ZERO_EXPONENT } from "./tensor.ts";

/*
 * Products of floats of 4 bits with scales, as matrix units add them [X] (tensor.ts has the sources): products of a block
 * are summed exactly, and the sum is multiplied by the scales of the block. The exponent by which that counts is the sum
 * of the scales' exponents. The scaled sums and the accumulator are aligned, truncated and added. What the source does
 * not say: a term that is zero aligns nothing here.
 */

/** How scaled sums of blocks are added. */
export interface BlockSum {
  /** Products of a block. */
  readonly products: number;
  /** Bits of the fraction of an aligned term. */
  readonly fraction: number;
}

/** The sums of mxf4 and mxf4nvf4 [X]. */
export const blockSum: BlockSum = { products: 16, fraction: 35 };

/** A scale: its value, and its exponent. */
export interface Scale {
  readonly value: number;
  readonly exponent: number;
}

/** The scale of a pattern of 8 bits. ue8m0: a power of two; ue4m3: an e4m3 without sign. Both have a NaN. */
export function scaleOf(format: "ue8m0" | "ue4m3", pattern: number): Scale {
  if (format === "ue8m0") {
    return pattern === 0xff
      ? { value: NaN, exponent: 0 }
      : { value: powerOfTwo(pattern - 127), exponent: pattern - 127 };
  }
  const value = minifloatToNumber(pattern & 0x7f, minifloats.e4m3);
  const { emin } = minifloats.e4m3;
  return { value, exponent: value > 0 ? Math.max(exponentOf(value), emin) : emin };
}

/** The accumulator after `count` products have been added to it. `scaleA`, `scaleB`: the scales of a block of products. */
export function sumOfBlocks(
  a: TensorLine,
  b: TensorLine,
  count: number,
  start: number,
  [scaleA, scaleB]: readonly [(block: number) => Scale, (block: number) => Scale],
  { products, fraction }: BlockSum,
): number {
  const terms: Scale[] = [];
  for (let from = 0; from < count; from += products) {
    let sum = 0;
    for (let k = from; k < from + products; k++) sum += a.values[a.at + k]! * b.values[b.at + k]!;
    const [left, right] = [scaleA(from / products), scaleB(from / products)];
    terms.push({ value: sum * left.value * right.value, exponent: left.exponent + right.exponent });
  }
  const plain = terms.reduce((sum, { value }) => sum + value, start);
  if (!Number.isFinite(plain)) return plain;
  const largest = terms.reduce(
    (most, { value, exponent }) => (value === 0 ? most : Math.max(most, exponent)),
    start === 0 ? ZERO_EXPONENT : Math.max(exponentOf(start), ZERO_EXPONENT),
  );
  const scale = powerOfTwo(fraction - largest);
  const total = terms.reduce((sum, { value }) => sum + Math.trunc(value * scale), Math.trunc(start * scale));
  return truncated(total * powerOfTwo(largest - fraction), 23);
}
