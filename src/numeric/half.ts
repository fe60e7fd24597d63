import { signBit } from "./binary64-bits.ts";
import { INTEGERS, overflowsToInfinity, type RoundingMode, roundedMagnitude, stochasticMagnitude } from "./rounding.ts";

export type { RoundingMode } from "./rounding.ts";

/** The canonical NaN of f16 and bf16 arithmetic in PTX. */
const HALF_NAN = 0x7fff;

const f32 = new Float32Array(1);
const u32 = new Uint32Array(f32.buffer);
const f64 = new Float64Array(1);
// Word 1 holds sign and exponent: every platform that runs JavaScript has little-endian typed arrays.
const words = new Uint32Array(f64.buffer);

/**
 * Rounds a value to a 16-bit format with infinities and returns its bit pattern. The smallest normal number is
 * 2^`emin`.
 */
const encode = (value: number, fraction: number, emin: number, infinity: number, mode: RoundingMode): number => {
  if (value !== value) return HALF_NAN;
  const negative = signBit(value);
  const sign = negative ? 0x8000 : 0;
  if (value === Infinity || value === -Infinity) return sign | infinity;
  const magnitude = roundedMagnitude(value, fraction, emin, mode);
  if (magnitude < infinity) return sign | magnitude;
  return sign | (overflowsToInfinity(mode, negative) ? infinity : infinity - 1);
};

/**
 * Returns a function that rounds to nearest even in a format whose smallest normal number is 2^`emin`: half a unit in
 * the last place is added to the upper word of the double, which is then cut to the fraction.
 */
const toNearest = (fraction: number, emin: number, infinity: number) => {
  const cut = 20 - fraction;
  const minNormal = (emin + 1023) << 20;
  const bias = minNormal - (1 << 20);
  // Half a unit in the last place above the largest finite number.
  const overflow = bias + (infinity << cut) - (1 << (cut - 1));
  const units = 2 ** (fraction - emin);
  return (value: number): number => {
    f64[0] = value;
    const sign = (words[1]! >>> 16) & 0x8000;
    const high = words[1]! & 0x7fff_ffff;
    if (high >= overflow) return value === value ? sign | infinity : HALF_NAN;
    if (high < minNormal) return sign | (Math.abs(value) * units + INTEGERS - INTEGERS);
    const rest = (high - bias) | (words[0] === 0 ? 0 : 1);
    return sign | ((rest + (1 << (cut - 1)) - 1 + ((rest >>> cut) & 1)) >>> cut);
  };
};
const nearestF16 = toNearest(10, -14, 0x7c00);
const nearestBf16 = toNearest(7, -126, 0x7f80);

/** Returns the value of an f16 (binary16) pattern. Bits above the 16th are ignored; payloads of NaNs are lost. */
export function f16ToNumber(bits: number): number {
  // Moves exponent and fraction to their places in binary32, whose exponent bias is larger by 112.
  u32[0] = (bits & 0x7fff) << 13;
  const magnitude = (bits & 0x7c00) === 0x7c00 ? ((bits & 0x3ff) === 0 ? Infinity : NaN) : f32[0]! * 2 ** 112;
  return bits & 0x8000 ? -magnitude : magnitude;
}

/**
 * Returns the f16 pattern (0 to 0xffff) of any double, rounded once. NaN gives 0x7fff; on overflow, the mode decides
 * between infinity and the largest finite number.
 */
export const numberToF16 = (value: number, mode: RoundingMode = "rn"): number =>
  mode === "rn" ? nearestF16(value) : encode(value, 10, -14, 0x7c00, mode);

/**
 * Returns the value of a bf16 pattern, the upper half of a binary32. Bits above the 16th are ignored; payloads of NaNs
 * are lost.
 */
export const bf16ToNumber = (bits: number): number => ((u32[0] = bits << 16), f32[0]!);

/**
 * Returns the bf16 pattern (0 to 0xffff) of any double, rounded once. NaN gives 0x7fff; on overflow, the mode decides
 * between infinity and the largest finite number.
 */
export const numberToBf16 = (value: number, mode: RoundingMode = "rn"): number =>
  mode === "rn" ? nearestBf16(value) : encode(value, 7, -126, 0x7f80, mode);

const stochastic = (value: number, fraction: number, emin: number, infinity: number, random: number, count: number) => {
  if (value !== value) return HALF_NAN;
  const sign = signBit(value) ? 0x8000 : 0;
  if (value === Infinity || value === -Infinity) return sign | infinity;
  const magnitude = stochasticMagnitude(value, fraction, emin, random, count);
  return sign | (magnitude < infinity ? magnitude : infinity);
};

/** Returns the f16 pattern of a binary32 value, rounded stochastically with 13 random bits. */
export const numberToF16Stochastic = (value: number, random: number): number =>
  stochastic(value, 10, -14, 0x7c00, random & 0x1fff, 13);

/** Returns the bf16 pattern of a binary32 value, rounded stochastically with 16 random bits. */
export const numberToBf16Stochastic = (value: number, random: number): number =>
  stochastic(value, 7, -126, 0x7f80, random & 0xffff, 16);

/** Converts bf16 patterns to numbers, many at once. */
export function bf16ToNumbers(halves: Uint16Array, into: Float32Array): void {
  const bits = new Uint32Array(into.buffer, into.byteOffset, into.length);
  for (let i = 0; i < halves.length; i++) bits[i] = halves[i]! << 16;
}

/**
 * The bf16 patterns of binary32 values, many at once: half a unit is added to the bits, which carries into the exponent
 * and to infinity as it should.
 */
export function numbersToBf16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < halves.length; i++) {
    const word = bits[i]!;
    const hasNoValue = (word & 0x7fff_ffff) > 0x7f80_0000;
    halves[i] = hasNoValue ? HALF_NAN : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}
