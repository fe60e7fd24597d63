import { productError, sumError, toOdd } from "./error-free.ts";

/**
 * Binary32 arithmetic on doubles that hold binary32 values. For rounding to nearest, `Math.fround` of the operation on
 * doubles is correct for + - * / and the square root, because 53 >= 2 * 24 + 2. For the other modes and for the fused
 * multiply-add, the operation is first rounded to odd in 53 bits, which makes the second rounding harmless.
 */

const f32 = new Float32Array(1);
const u32 = new Uint32Array(f32.buffer);

/** Rounds a double to binary32 towards zero. */
export function towardZero32(x: number): number {
  const f = Math.fround(x);
  if (!(Math.abs(f) > Math.abs(x))) return f;
  f32[0] = f;
  u32[0] = u32[0]! - 1;
  return f32[0]!;
}

/** Rounds a double to binary32 towards plus infinity. */
export function upward32(x: number): number {
  const f = Math.fround(x);
  if (!(f < x)) return f;
  f32[0] = f;
  u32[0] = u32[0]! + (f < 0 || Object.is(f, -0) ? -1 : 1);
  return f32[0]!;
}

/** `a + b`, rounded to odd in binary64. */
export function addToOdd(a: number, b: number): number {
  const s = a + b;
  return toOdd(s, sumError(a, b, s));
}

/** `a / b`, rounded to odd in binary64. */
export function divideToOdd(a: number, b: number): number {
  const q = a / b;
  const p = q * b;
  // All error terms are representable: binary32 operands keep q and p far from the ends of binary64's range.
  const remainder = a - p - productError(q, b, p);
  return toOdd(q, b < 0 ? -remainder : remainder);
}

/** The square root, rounded to odd in binary64. */
export function sqrtToOdd(a: number): number {
  const q = Math.sqrt(a);
  const p = q * q;
  return toOdd(q, a - p - productError(q, q, p));
}

/** `a * b + c`, rounded to odd in binary64, where the product of two binary32 values is exact. */
export function fmaToOdd(a: number, b: number, c: number): number {
  const p = a * b;
  const s = p + c;
  return toOdd(s, sumError(p, c, s));
}

/** The fused multiply-add, rounded once, to nearest even. */
export function fma32(a: number, b: number, c: number): number {
  const s = a * b + c;
  const f = Math.fround(s);
  // Double rounding differs from a single one only if the first rounding ends half-way between two neighbours in
  // binary32. Exactly then is the mirror image of f in s the other neighbour.
  const d = s - f;
  const other = s + d;
  return d === 0 || Math.fround(other) !== other ? f : Math.fround(fmaToOdd(a, b, c));
}
