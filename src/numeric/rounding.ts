/**
 * A rounding mode: to nearest even, towards zero, towards minus infinity, towards plus infinity, or to nearest with
 * ties away from zero.
 */
export type RoundingMode = "rn" | "rz" | "rm" | "rp" | "rna";

const f64 = new Float64Array(1);
// Word 1 holds sign and exponent: every platform that runs JavaScript has little-endian typed arrays.
const words = new Uint32Array(f64.buffer);

/** 2^52: adding it to a smaller nonnegative double rounds that to an integer, ties to even. */
export const INTEGERS = 2 ** 52;

/** The exponent of a finite double in a format whose smallest normal number is 2^`emin`. */
function exponentIn(value: number, emin: number): number {
  f64[0] = value;
  const exponent = ((words[1]! >>> 20) & 0x7ff) - 1023;
  return exponent < emin ? emin : exponent;
}

/**
 * |`value`| in units of the last place that the format has at this exponent. Scaling by a power of two is exact here.
 */
function inUnits(value: number, fraction: number, exponent: number): number {
  words[0] = 0;
  words[1] = (fraction - exponent + 1023) << 20;
  return (value < 0 ? -value : value) * f64[0]!;
}

// The leading bit of a normal number, or a carry out of the fraction, increments the exponent field by itself.
const pattern = (integer: number, fraction: number, exponent: number, emin: number): number =>
  (exponent - emin) * 2 ** fraction + integer;

/**
 * Returns the pattern of |`value`| without the sign, rounded once as if the exponent were unbounded. A result above the
 * pattern of the largest finite number means overflow, which the caller has to handle. `value` is a finite double; its
 * sign matters for `rm` and `rp`.
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
 * The same with stochastic rounding: rounds away from zero if adding `count` random bits to the discarded bits carries,
 * else towards zero.
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

/** Whether a number beyond the largest finite one becomes infinity rather than that finite number. */
export const overflowsToInfinity = (mode: RoundingMode, negative: boolean): boolean =>
  mode === "rn" || mode === "rna" || mode === (negative ? "rm" : "rp");
