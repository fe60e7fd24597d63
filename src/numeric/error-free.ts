import { awayFromZero, isOdd, towardsZero } from "./binary64-bits.ts";

/**
 * Error-free transformations: the rounding error of an operation on doubles is itself a double, and can be computed
 * with doubles (Dekker 1971; Knuth's TwoSum; Boldo and Melquiond 2008 for rounding to odd).
 */

/** `a + b - s`, exactly, for an `s = a + b` that did not overflow. */
export function sumError(a: number, b: number, s: number): number {
  const bb = s - a;
  return a - (s - bb) + (b - bb);
}

/** 2^27 + 1, which splits a double into two halves of 26 bits. */
const SPLIT = 134217729;

/** `a * b - p`, exactly, for `p = a * b`, where |a|, |b| < 2^996 and no bit of the product is below 2^-1074. */
export function productError(a: number, b: number, p: number): number {
  const ta = SPLIT * a;
  const ah = ta - (ta - a);
  const al = a - ah;
  const tb = SPLIT * b;
  const bh = tb - (tb - b);
  const bl = b - bh;
  return al * bl - (p - ah * bh - al * bh - ah * bl);
}

/**
 * Rounds the exact value `s + e`, where `s` is that value rounded to nearest, to the neighbour whose last bit is odd.
 * Rounding the result again to a format that is at least two bits shorter gives the same as rounding the exact value
 * once, in any mode.
 */
export function toOdd(s: number, e: number): number {
  if (!(e > 0 || e < 0) || isOdd(s)) return s;
  return e > 0 === s > 0 ? awayFromZero(s) : towardsZero(s);
}
