/**
 * How a value that lies between two neighbours is rounded: to nearest even, towards zero, towards minus infinity, towards
 * plus infinity, to nearest with ties away from zero.
 */
export type RoundingMode = "rn" | "rz" | "rm" | "rp" | "rna";

const f64 = new Float64Array(1);
// Word 1 holds sign and exponent: typed arrays of every platform that JavaScript runs on are little-endian.
const words = new Uint32Array(f64.buffer);

/** An integer that no double below 2^52 can be added to without being rounded to an integer, ties to even. */
export const INTEGERS = 2 ** 52;

/** The exponent that a finite double has in a format whose least normal number is 2^`emin`. */
function exponentIn(value: number, emin: number): number {
  f64[0] = value;
  const exponent = ((words[1]! >>> 20) & 0x7ff) - 1023;
  return exponent < emin ? emin : exponent;
}

/** |`value`| in units of the format's spacing at a number of this exponent. Scaling by a power of two is exact here. */
function inUnits(value: number, fraction: number, exponent: number): number {
  words[0] = 0;
  words[1] = (fraction - exponent + 1023) << 20;
  return (value < 0 ? -value : value) * f64[0]!;
}

// The leading bit of a normal number, and a carry out of the fraction, step the exponent field by themselves.
const pattern = (integer: number, fraction: number, exponent: number, emin: number): number =>
  (exponent - emin) * 2 ** fraction + integer;

/**
 * The pattern of |`value`| in a format, without the sign, rounded once as if the exponent had no upper bound: what lies above
 * the pattern of the format's greatest number has overflowed, and what that means is the format's business. `value` is
 * a finite double; its sign tells what `rm` and `rp` mean.
 */
export function roundedMagnitude(value: number, fraction: number, emin: number, mode: RoundingMode): number {
  const exponent = exponentIn(value, emin);
  const units = inUnits(value, fraction, exponent);
  if (mode === "rn") return pattern(units + INTEGERS - INTEGERS, fraction, exponent, emin);
  const integer = Math.floor(units);
  const rest = units - integer;
  const up = mode === "rna" ? rest >= 0.5 : rest > 0 && mode === (value < 0 ? "rm" : "rp");
  return pattern(up ? integer + 1 : integer, fraction, exponent, emin);
}

/**
 * The same with stochastic rounding: away from zero where adding the `count` random bits to the bits that are cut off
 * carries, else towards zero.
 */
export function stochasticMagnitude(
  value: number,
  fraction: number,
  emin: number,
  random: number,
  count: number,
): number {
  const exponent = exponentIn(value, emin);
  const units = inUnits(value, fraction, exponent);
  const integer = Math.floor(units);
  const carries = (units - integer) * 2 ** count + random >= 2 ** count;
  return pattern(carries ? integer + 1 : integer, fraction, exponent, emin);
}

/** Whether a number beyond the greatest finite one becomes infinity (else the greatest finite one). */
export const overflowsToInfinity = (mode: RoundingMode, negative: boolean): boolean =>
  mode === "rn" || mode === "rna" || mode === (negative ? "rm" : "rp");
