const f64 = new Float64Array(1);
/** Word 0 is the low one: every platform that runs JavaScript has little-endian typed arrays. */
const words = new Uint32Array(f64.buffer);

/**
 * Returns 2^k exactly, for k from -1074 to 1023. (`**` may be off in the last place: the language leaves its accuracy
 * to the implementation.)
 */
export function powerOfTwo(k: number): number {
  // Below 2^-1022 the single bit is in the fraction: first in its high word, then in its low word.
  words[0] = k < -1042 ? 1 << (k + 1074) : 0;
  words[1] = k >= -1022 ? (k + 1023) << 20 : k >= -1042 ? 1 << (k + 1042) : 0;
  return f64[0]!;
}

/** The exponent of the leading bit of a finite nonzero double: x is in [2^e, 2^(e+1)). */
export function exponentOf(x: number): number {
  f64[0] = x;
  const field = (words[1]! >>> 20) & 0x7ff;
  if (field > 0) return field - 1023;
  const high = words[1]! & 0xf_ffff;
  return high > 0 ? -1043 + (32 - Math.clz32(high)) : -1075 + (32 - Math.clz32(words[0]!));
}

/** The sign bit, which zeros have too. */
export const signBit = (x: number): boolean => ((f64[0] = x), words[1]! >>> 31 !== 0);

/** Returns the next double of greater magnitude. A zero keeps its sign; the largest double gives infinity. */
export function awayFromZero(x: number): number {
  f64[0] = x;
  words[0] = words[0]! + 1;
  if (words[0] === 0) words[1] = words[1]! + 1;
  return f64[0]!;
}

/** Returns the next double of smaller magnitude. `x` is nonzero; infinity gives the largest double. */
export function towardsZero(x: number): number {
  f64[0] = x;
  if (words[0] === 0) words[1] = words[1]! - 1;
  words[0] = words[0]! - 1;
  return f64[0]!;
}

/** Whether the last bit of the significand is set. */
export const isOdd = (x: number): boolean => ((f64[0] = x), (words[0]! & 1) !== 0);
