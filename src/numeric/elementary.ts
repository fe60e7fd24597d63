import { exponentOf, powerOfTwo } from "./binary64-bits.ts";

/**
 * Elementary functions of binary32 operands, built only from operations that IEEE 754 specifies exactly, so that every
 * machine gives the same result. (The results of `Math.sin` and the like are up to the host.) Results are doubles
 * accurate to about 50 bits: rounded to binary32 they are almost always correctly rounded.
 */

const horner = (coefficients: readonly number[], x: number): number => {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = sum * x + coefficients[i]!;
  return sum;
};

export const TWO_OVER_PI = 0.6366197723675814;
/** pi/2 in three parts: 31 bits and 33 bits, so that products with 20-bit integers are exact, and the rest. */
export const HALF_PI = [1.5707963267341256, 6.07710049817245e-11, 8.333742918520879e-20] as const;
/** floor(2/pi * 2^256): enough bits to compute the fraction of any binary32 multiple. */
const TWO_OVER_PI_BITS = 0xa2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561n;

/** The Taylor coefficients of sin(r)/r and cos(r) in r^2; the first omitted term is below 2^-60 at pi/4. */
const inverseFactorials = (first: number, count: number): number[] => {
  const list = [1];
  for (let k = first, term = 1; list.length < count; k += 2) list.push((term /= -k * (k + 1)));
  return list;
};
export const SINE = inverseFactorials(2, 9);
export const COSINE = inverseFactorials(1, 10);

/** The largest multiple of pi/2 (in magnitude) whose products with the first parts of `HALF_PI` are exact. */
export const MAX_QUARTERS = 0xf_ffff;

/** sin(x + quarters * pi/2). */
function sineOf(x: number, quarters: number): number {
  if (!Number.isFinite(x)) return NaN;
  let n = Math.floor(x * TWO_OVER_PI + 0.5);
  let r = x;
  if (n > MAX_QUARTERS || n < -MAX_QUARTERS) {
    // The fraction of the product in units of 2^-259 (the operand is a multiple of 1/8).
    const turns = BigInt(x * 8) * TWO_OVER_PI_BITS;
    const whole = (turns + (1n << 258n)) >> 259n;
    r = Number((turns - (whole << 259n)) >> 131n) * powerOfTwo(-128) * (HALF_PI[0] + HALF_PI[1]);
    n = Number(whole & 3n);
  } else if (n !== 0) {
    r = x - n * HALF_PI[0] - n * HALF_PI[1] - n * HALF_PI[2];
  }
  const quadrant = (n + quarters) & 3;
  const value = quadrant & 1 ? horner(COSINE, r * r) : r * horner(SINE, r * r);
  return quadrant & 2 ? -value : value;
}

/** sin(x), accurate to about 50 bits for any binary32 operand; NaN for infinities. */
export const sine = (x: number): number => sineOf(x, 0);
/** cos(x), accurate to about 50 bits for any binary32 operand; NaN for infinities. */
export const cosine = (x: number): number => sineOf(x, 1);

/** The coefficients (ln 2)^k / k! of 2^x on [-1/2, 1/2]. */
export const EXP2 = [
  1,
  Math.LN2,
  0.24022650695910072,
  0.05550410866482158,
  0.009618129107628477,
  0.0013333558146428443,
  0.0001540353039338161,
  1.5252733804059841e-5,
  1.321548679014431e-6,
  1.01780860092397e-7,
  7.054911620801123e-9,
  4.4455382718708116e-10,
  2.5678435993488206e-11,
  1.3691488853904128e-12,
];

/** 2^x. Results far outside the range of binary32 become infinity or 0. */
export function exp2(x: number): number {
  if (x > 200) return Infinity;
  if (x < -200) return 0;
  const n = Math.floor(x + 0.5);
  return horner(EXP2, x - n) * powerOfTwo(n);
}

/** The coefficients 2 / ln 2 / (2k + 1) of log2((1 + s) / (1 - s)) / s in s^2. */
export const LOG2 = [
  2.8853900817779268, 0.9617966939259756, 0.5770780163555853, 0.4121985831111324, 0.3205988979753252,
  0.2623081892525388, 0.22195308321368667, 0.19235933878519512, 0.16972882833987804, 0.15186263588304877,
  0.1373995277037108, 0.12545174268599682,
];

/** The base-2 logarithm of zero or of a number above 2^-1022. */
export function log2(x: number): number {
  if (!(x > 0 && x < Infinity)) return x === 0 ? -Infinity : x > 0 ? x : NaN;
  let e = exponentOf(x);
  let m = x * powerOfTwo(-e);
  // Reduce to the neighbourhood of 1, so that nothing cancels where the logarithm is small.
  if (m > Math.SQRT2) {
    m /= 2;
    e++;
  }
  const s = (m - 1) / (m + 1);
  return e + s * horner(LOG2, s * s);
}

/** The hyperbolic tangent. */
export function tanh(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude < 0.25) {
    // Lambert's continued fraction.
    const y = x * x;
    return x / (1 + y / (3 + y / (5 + y / (7 + y / (9 + y / 11)))));
  }
  const value = magnitude > 20 ? 1 : 1 - 2 / (exp2(2 * Math.LOG2E * magnitude) + 1);
  return x < 0 ? -value : value;
}

/**
 * x^y for x >= 0. The logarithm is accurate to 50 bits, of which a large exponent costs up to 8: enough for a binary32
 * result.
 */
export function power(x: number, y: number): number {
  if (x === 1 || y === 0) return 1;
  return exp2(y * log2(x));
}

/** 1 / (1 + e^-x). */
export const sigmoid = (x: number): number => 1 / (1 + exp2(-Math.LOG2E * x));
