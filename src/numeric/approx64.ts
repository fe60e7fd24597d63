/**
 * The instructions rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 (9.7.3.14 and 9.7.3.17). They map the upper word of a
 * double, a number in 1.11.20 format, to another upper word. They operate on bit patterns because their NaN differs
 * from the canonical one.
 */

const f64 = new Float64Array(1);
const i64 = new BigInt64Array(f64.buffer);
const words = new Uint32Array(f64.buffer);

const NAN = 0x7fff_ffff_0000_0000n;

/** Returns the value of the upper word, with subnormal numbers flushed to zero. */
function upper(bits: bigint): number {
  i64[0] = bits;
  words[0] = 0;
  if ((words[1]! & 0x7ff0_0000) === 0) words[1] = words[1]! & 0x8000_0000;
  return f64[0]!;
}

/** Rounds a result to nearest even in 1.11.20 format and flushes subnormal numbers to zero. */
function pattern(value: number): bigint {
  if (value !== value) return NAN;
  f64[0] = value;
  const rest = words[0]!;
  words[0] = 0;
  if ((words[1]! & 0x7ff0_0000) === 0) words[1] = words[1]! & 0x8000_0000;
  // A carry out of the fraction correctly increments the exponent.
  else if (rest > 0x8000_0000 || (rest === 0x8000_0000 && (words[1]! & 1) !== 0)) words[1] = words[1]! + 1;
  return i64[0]!;
}

/** The reciprocal. Infinities give zeros; zeros and subnormal numbers give infinities. */
export const reciprocalApprox64 = (bits: bigint): bigint => pattern(1 / upper(bits));

/**
 * The reciprocal square root. A negative number gives NaN; a zero or subnormal number gives the infinity of its sign.
 */
export const reciprocalRootApprox64 = (bits: bigint): bigint => pattern(1 / Math.sqrt(upper(bits)));
