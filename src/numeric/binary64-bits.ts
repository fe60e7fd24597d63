const f64 = new Float64Array(1);
/** Word 0 is the low one: typed arrays of every platform that JavaScript runs on are little-endian. */
const words = new Uint32Array(f64.buffer);

/** 2^k, exactly, for k from -1074 to 1023. (`**` may be off in the last place: the language does not say how exact it is.) */
export function powerOfTwo(k: number): number {
  // Below 2^-1022 the one bit is in the fraction: in the high word, then in the low one.
  words[0] = k < -1042 ? 1 << (k + 1074) : 0;
  words[1] = k >= -1022 ? (k + 1023) << 20 : k >= -1042 ? 1 << (k + 1042) : 0;
  return f64[0]!;
}

/** The exponent of the leading bit of a finite double that is not zero: x is in [2^e, 2^(e+1)). */
export function exponentOf(x: number): number {
  f64[0] = x;
  const field = (words[1]! >>> 20) & 0x7ff;
  if (field > 0) return field - 1023;
  const high = words[1]! & 0xf_ffff;
  return high > 0 ? -1043 + (32 - Math.clz32(high)) : -1075 + (32 - Math.clz32(words[0]!));
}

/** The sign bit, also of a zero. */
export const signBit = (x: number): boolean => ((f64[0] = x), words[1]! >>> 31 !== 0);

/** The next double of greater magnitude; a zero stays signed, the greatest double gives infinity. */
export function awayFromZero(x: number): number {
  f64[0] = x;
  words[0] = words[0]! + 1;
  if (words[0] === 0) words[1] = words[1]! + 1;
  return f64[0]!;
}

/** The next double of smaller magnitude; `x` is no zero. Infinity gives the greatest double. */
export function towardsZero(x: number): number {
  f64[0] = x;
  if (words[0] === 0) words[1] = words[1]! - 1;
  words[0] = words[0]! - 1;
  return f64[0]!;
}

/** Whether the last bit of the significand is set. */
export const isOdd = (x: number): boolean => ((f64[0] = x), (words[0]! & 1) !== 0);
