/**
 * How a value that lies between two neighbours is rounded: to nearest even, towards zero, towards minus infinity, towards
 * plus infinity, to nearest with ties away from zero.
 */
export type RoundingMode = "rn" | "rz" | "rm" | "rp" | "rna";

const f64 = new Float64Array(1);
// Word 1 holds sign and exponent: typed arrays of every platform that JavaScript runs on are little-endian.
const words = new Uint32Array(f64.buffer);

/** An integer that no double below 2^52 can be added to without being rounded to an integer, ties to even. */
const INTEGERS = 2 ** 52;

/**
 * The pattern of |`value`| in a format, without the sign, rounded once as if the exponent had no upper bound: what lies above
 * the pattern of the format's greatest number has overflowed, and what that means is the format's business. `value` is
 * a finite double; its sign tells what `rm` and `rp` mean.
 */
export function roundedMagnitude(value: number, fraction: number, emin: number, mode: RoundingMode): number {
  f64[0] = value;
  const high = words[1]!;
  let exponent = ((high >>> 20) & 0x7ff) - 1023;
  if (exponent < emin) exponent = emin;
  // 2^(fraction - exponent): makes the format's spacing at this value 1. Scaling by a power of two is exact here.
  words[0] = 0;
  words[1] = (fraction - exponent + 1023) << 20;
  const scaled = (value < 0 ? -value : value) * f64[0]!;
  let integer: number;
  if (mode === "rn") {
    integer = scaled + INTEGERS - INTEGERS;
  } else {
    integer = Math.floor(scaled);
    const rest = scaled - integer;
    const negative = high >>> 31 !== 0;
    if (mode === "rna" ? rest >= 0.5 : rest > 0 && mode === (negative ? "rm" : "rp")) integer++;
  }
  // The leading bit of a normal number, and a carry out of the fraction, step the exponent field by themselves.
  return (exponent - emin) * 2 ** fraction + integer;
}

/** Whether a number beyond the greatest finite one becomes infinity (else the greatest finite one). */
export const overflowsToInfinity = (mode: RoundingMode, negative: boolean): boolean =>
  mode === "rn" || mode === "rna" || mode === (negative ? "rm" : "rp");
