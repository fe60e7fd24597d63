import { powerOfTwo } from "./binary64-bits.ts";
import { bf16ToNumber, f16ToNumber, numberToF16 } from "./half.ts";
import { minifloats, minifloatToNumber } from "./minifloat.ts";

/*
 * How matrix units add products of floats. The manual leaves order and rounding open (section 9.7.14.5.14). What is
 * here is what the literature has found on hardware:
 *
 * [F] Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ CS 7:e330, 2021.
 * [X] Xie, Wang, Yang, Yang, "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores",
 *     arXiv:2511.10909, 2025.
 * [K] Khattak, Mikaitis, "Accurate Models of NVIDIA Tensor Cores", arXiv:2512.07004, 2025.
 *
 * One step adds several products and the accumulator at once [X, F, K]: a product is exact, and its exponent is the sum
 * of its operands' exponents. All terms are aligned to the largest exponent among them and truncated to a number of
 * fraction bits, then added exactly. The sum is truncated to f32, or rounded to nearest even to f16. What the sources
 * do not say: a sum beyond the largest f32 is infinite here.
 */

/** How sums of products are formed. */
export interface TensorSum {
  /** Bits of the fraction of an aligned term. */
  readonly fraction: number;
  /** Products that are added in one step; the next step's accumulator is the rounded result. */
  readonly products: number;
  /** Bits of the fraction to which results of type f32 are truncated. */
  readonly resultFraction: number;
  /** Whether accumulator and result are f16, else f32. */
  readonly half: boolean;
}

/** The formats of multiplicands that are summed this way. */
export type TensorFormat = "f16" | "bf16" | "tf32" | "e4m3" | "e5m2" | "e2m3" | "e3m2" | "e2m1";

/** How a product over `k` elements is formed on the architecture with this number: 80 for sm_80 [X, F, K]. */
export function tensorSum(sm: number, format: TensorFormat, k: number, half: boolean): TensorSum {
  const isNarrow = format in minifloats;
  if (sm >= 90) return { fraction: 25, products: k, resultFraction: 23, half };
  if (isNarrow) return { fraction: 13, products: 16, resultFraction: 13, half };
  if (sm >= 80) return { fraction: 24, products: format === "tf32" ? 4 : 8, resultFraction: 23, half };
  return sm >= 75
    ? { fraction: 24, products: 8, resultFraction: 23, half }
    : { fraction: 23, products: 4, resultFraction: 23, half };
}

/**
 * How a product over `k` elements is formed by the warpgroups of sm_90a, which add 8-bit floats with fewer bits than
 * its warps do: 32 products in one step, and an f32 result of 13 bits of fraction [X, K]. Of a sparse matrix `k` counts
 * the elements that are present: which products share a step there is in none of the sources.
 */
export const warpgroupSum = (format: TensorFormat, k: number, half: boolean): TensorSum =>
  format in minifloats
    ? { fraction: 13, products: 32, resultFraction: 13, half }
    : { fraction: 25, products: k, resultFraction: 23, half };

/** Values with the exponents by which terms are aligned. */
interface TensorValues {
  readonly values: Float64Array;
  readonly exponents: Int32Array;
}

/** The exponent of a zero [X], and of subnormal numbers of f32. */
const ZERO_EXPONENT = -126;

/** The smallest exponent of a normal number; subnormal numbers count with it. */
const minExponents: Readonly<Record<TensorFormat, number>> = {
  f16: -14,
  bf16: -126,
  tf32: -126,
  e4m3: minifloats.e4m3.emin,
  e5m2: minifloats.e5m2.emin,
  e3m2: minifloats.e3m2.emin,
  e2m3: minifloats.e2m3.emin,
  e2m1: minifloats.e2m1.emin,
};

const f32 = new Float32Array(1);
const u32 = new Uint32Array(f32.buffer);
const f64 = new Float64Array(1);
// Word 1 has the exponent: every platform that runs JavaScript has little-endian typed arrays.
const words = new Uint32Array(f64.buffer);

/** The value of a pattern. Of tf32 the lowest 13 bits are cut off [X]. */
export function tensorValue(format: TensorFormat, pattern: number): number {
  switch (format) {
    case "f16":
      return f16ToNumber(pattern);
    case "bf16":
      return bf16ToNumber(pattern);
    case "tf32":
      u32[0] = pattern & ~0x1fff;
      return f32[0]!;
    default:
      return minifloatToNumber(pattern, minifloats[format]);
  }
}

/** The exponent by which a finite value of a format counts. */
export const tensorExponent = (format: TensorFormat, value: number): number =>
  value === 0 ? ZERO_EXPONENT : Math.max(binaryExponent(value), minExponents[format]);

function binaryExponent(value: number): number {
  f64[0] = value;
  return ((words[1]! >>> 20) & 0x7ff) - 1023;
}

/** Elements that follow each other: those of `values` and `exponents` from `at` on. */
export interface TensorLine extends TensorValues {
  readonly at: number;
}

/** The accumulator after `count` products of elements of `a` and `b` have been added to it, step by step. */
export function sumOfProducts(a: TensorLine, b: TensorLine, count: number, start: number, sum: TensorSum): number {
  let total = start;
  for (let from = 0; from < count; from += sum.products) {
    total = step(a, b, from, Math.min(sum.products, count - from), total, sum);
  }
  return total;
}

function step(
  a: TensorLine,
  b: TensorLine,
  from: number,
  count: number,
  start: number,
  { fraction, resultFraction, half }: TensorSum,
): number {
  const [i, j] = [a.at + from, b.at + from];
  let largest = start === 0 ? ZERO_EXPONENT : Math.max(binaryExponent(start), half ? -14 : -126);
  let plain = start;
  for (let k = 0; k < count; k++) {
    plain += a.values[i + k]! * b.values[j + k]!;
    const exponent = a.exponents[i + k]! + b.exponents[j + k]!;
    if (exponent > largest) largest = exponent;
  }
  // Infinities and NaNs; finite terms are far from the largest double.
  if (!Number.isFinite(plain)) return plain;
  const scale = powerOfTwo(fraction - largest);
  let total = Math.trunc(start * scale);
  for (let k = 0; k < count; k++) total += Math.trunc(a.values[i + k]! * b.values[j + k]! * scale);
  const exact = total * powerOfTwo(largest - fraction);
  return half ? f16ToNumber(numberToF16(exact)) : truncated(exact, resultFraction);
}

/** Truncates a value to f32, or to fewer bits of its fraction. */
function truncated(value: number, fraction: number): number {
  const unit = Math.max(binaryExponent(value), -126) - fraction;
  const cut = Math.trunc(value * powerOfTwo(-unit)) * powerOfTwo(unit);
  return Math.abs(cut) < 2 ** 128 ? cut + 0 : cut * Infinity;
}

/** Scales of a line: of group g of 16 elements, the significand and exponent at `at` + g. */
export interface GroupScales {
  readonly significands: Float64Array;
  readonly exponents: Int32Array;
  readonly at: number;
}

/** Elements of a group whose products are added before they are scaled, and bits of the fraction of an aligned term. */
const GROUP = 16;
const GROUP_FRACTION = 35;

/**
 * The accumulator after `count` products of 4-bit floats with scales have been added to it, in one step [X]: the
 * products of a group of 16 are summed exactly and multiplied by the significands of both scales; these sums count with
 * the exponents of the scales.
 */
export function sumOfScaledGroups(
  a: TensorLine,
  b: TensorLine,
  count: number,
  [scalesA, scalesB]: readonly [GroupScales, GroupScales],
  start: number,
): number {
  let largest = start === 0 ? ZERO_EXPONENT : Math.max(binaryExponent(start), -126);
  const terms: number[] = [];
  let plain = start;
  for (let group = 0; group * GROUP < count; group++) {
    let sum = 0;
    for (let k = group * GROUP; k < (group + 1) * GROUP; k++) sum += a.values[a.at + k]! * b.values[b.at + k]!;
    const exponent = scalesA.exponents[scalesA.at + group]! + scalesB.exponents[scalesB.at + group]!;
    const term = sum * scalesA.significands[scalesA.at + group]! * scalesB.significands[scalesB.at + group]!;
    terms.push(term * powerOfTwo(exponent));
    plain += terms[group]!;
    if (exponent > largest) largest = exponent;
  }
  if (!Number.isFinite(plain)) return plain;
  const scale = powerOfTwo(GROUP_FRACTION - largest);
  let total = Math.trunc(start * scale);
  for (const term of terms) total += Math.trunc(term * scale);
  return truncated(total * powerOfTwo(largest - GROUP_FRACTION), 23);
}
