import { signBit } from "./binary64-bits.ts";
import { INTEGERS, overflowsToInfinity, type RoundingMode, roundedMagnitude, stochasticMagnitude } from "./rounding.ts";

export type { RoundingMode } from "./rounding.ts";

/** What PTX writes for every NaN result of f16 and bf16 arithmetic. */
const HALF_NAN = 0x7fff;

const f32 = new Float32Array(1);
const u32 = new Uint32Array(f32.buffer);
const f64 = new Float64Array(1);
// Word 1 holds sign and exponent: typed arrays of every platform that JavaScript runs on are little-endian.
const words = new Uint32Array(f64.buffer);

/** The pattern of a value in a format with infinities and NaN; `nan` is the pattern that stands for every NaN. */
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
 * The pattern of the nearest value, ties to even, in a format whose least normal number is 2^`emin`: the upper word of a
 * double, cut to the fraction after a half of the last place has been added.
 */
const toNearest = (fraction: number, emin: number, infinity: number) => {
  const cut = 20 - fraction;
  const leastNormal = (emin + 1023) << 20;
  const bias = leastNormal - (1 << 20);
  // Half a unit in the last place above the greatest number.
  const overflow = bias + (infinity << cut) - (1 << (cut - 1));
  const units = 2 ** (fraction - emin);
  return (value: number): number => {
    f64[0] = value;
    const sign = (words[1]! >>> 16) & 0x8000;
    const high = words[1]! & 0x7fff_ffff;
    if (high >= overflow) return value === value ? sign | infinity : HALF_NAN;
    if (high < leastNormal) return sign | (Math.abs(value) * units + INTEGERS - INTEGERS);
    const rest = (high - bias) | (words[0] === 0 ? 0 : 1);
    return sign | ((rest + (1 << (cut - 1)) - 1 + ((rest >>> cut) & 1)) >>> cut);
  };
};
const nearestF16 = toNearest(10, -14, 0x7c00);
const nearestBf16 = toNearest(7, -126, 0x7f80);

/** The value of an f16 (binary16) pattern; bits above the 16th are ignored. Every NaN is NaN. */
export function f16ToNumber(bits: number): number {
  // Exponent and fraction at their places in binary32, where the exponent's bias is 112 more.
  u32[0] = (bits & 0x7fff) << 13;
  const magnitude = (bits & 0x7c00) === 0x7c00 ? ((bits & 0x3ff) === 0 ? Infinity : NaN) : f32[0]! * 2 ** 112;
  return bits & 0x8000 ? -magnitude : magnitude;
}

/** The f16 pattern (0 to 0xffff) of any double, rounded once. NaN gives 0x7fff; overflow is as the mode says. */
export const numberToF16 = (value: number, mode: RoundingMode = "rn"): number =>
  mode === "rn" ? nearestF16(value) : encode(value, 10, -14, 0x7c00, mode);

/** The value of a bf16 pattern, the upper half of a binary32; bits above the 16th are ignored. Every NaN is NaN. */
export const bf16ToNumber = (bits: number): number => ((u32[0] = bits << 16), f32[0]!);

/** The bf16 pattern (0 to 0xffff) of any double, rounded once. NaN gives 0x7fff; overflow is as the mode says. */
export const numberToBf16 = (value: number, mode: RoundingMode = "rn"): number =>
  mode === "rn" ? nearestBf16(value) : encode(value, 7, -126, 0x7f80, mode);

const stochastic = (value: number, fraction: number, emin: number, infinity: number, random: number, count: number) => {
  if (value !== value) return HALF_NAN;
  const sign = signBit(value) ? 0x8000 : 0;
  if (value === Infinity || value === -Infinity) return sign | infinity;
  const magnitude = stochasticMagnitude(value, fraction, emin, random, count);
  return sign | (magnitude < infinity ? magnitude : infinity);
};

/** The f16 pattern of a binary32 value, rounded stochastically by 13 random bits. */
export const numberToF16Stochastic = (value: number, random: number): number =>
  stochastic(value, 10, -14, 0x7c00, random & 0x1fff, 13);

/** The bf16 pattern of a binary32 value, rounded stochastically by 16 random bits. */
export const numberToBf16Stochastic = (value: number, random: number): number =>
  stochastic(value, 7, -126, 0x7f80, random & 0xffff, 16);
