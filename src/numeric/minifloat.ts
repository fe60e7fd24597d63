import { exponentOf, powerOfTwo, signBit } from "./binary64-bits.ts";
import { type RoundingMode, roundedMagnitude } from "./rounding.ts";

/** A floating-point format of at most 8 bits (PTX 5.2.3). */
export interface Minifloat {
  /** Width of the fraction in bits. */
  readonly fraction: number;
  /** The smallest normal number is 2^`emin`. */
  readonly emin: number;
  /** The sign bit. */
  readonly sign: number;
  /** The pattern of the largest finite number. */
  readonly max: number;
  /** The pattern that a NaN becomes; in a format without NaN, that of the largest number. */
  readonly nan: number;
  /** Whether the pattern after `max` is infinity. Conversions saturate, so an infinity is only ever read. */
  readonly infinity: boolean;
}

/** The formats by their PTX names. */
export const minifloats = {
  e4m3: { fraction: 3, emin: -6, sign: 0x80, max: 0x7e, nan: 0x7f, infinity: false },
  e5m2: { fraction: 2, emin: -14, sign: 0x80, max: 0x7b, nan: 0x7f, infinity: true },
  e2m3: { fraction: 3, emin: 0, sign: 0x20, max: 0x1f, nan: 0x1f, infinity: false },
  e3m2: { fraction: 2, emin: -2, sign: 0x20, max: 0x1f, nan: 0x1f, infinity: false },
  e2m1: { fraction: 1, emin: 0, sign: 0x8, max: 0x7, nan: 0x7, infinity: false },
} as const satisfies Readonly<Record<string, Minifloat>>;
export type MinifloatName = keyof typeof minifloats;

/**
 * Returns the pattern of a double, rounded once to nearest even; a number that is too large becomes the largest one of
 * its sign.
 */
export function numberToMinifloat(value: number, format: Minifloat): number {
  if (value !== value) return format.nan;
  const sign = signBit(value) ? format.sign : 0;
  if (value === Infinity || value === -Infinity) return sign | format.max;
  const magnitude = roundedMagnitude(value, format.fraction, format.emin, "rn");
  return sign | (magnitude < format.max ? magnitude : format.max);
}

/** Returns the value of a pattern; bits above the sign are ignored. */
export function minifloatToNumber(bits: number, format: Minifloat): number {
  const magnitude = bits & (format.sign - 1);
  if (magnitude > format.max && !(format.infinity && magnitude === format.max + 1)) return NaN;
  const exponent = magnitude >> format.fraction;
  const leading = 1 << format.fraction;
  const significand = exponent === 0 ? magnitude : leading | (magnitude & (leading - 1));
  const value =
    magnitude > format.max
      ? Infinity
      : significand * powerOfTwo(format.emin - format.fraction + (exponent === 0 ? 0 : exponent - 1));
  return bits & format.sign ? -value : value;
}

/** The NaN of ue8m0. */
const SCALE_NAN = 0xff;

/**
 * Returns the ue8m0 pattern of |`value`|, which stands for 2^(pattern - 127), rounded towards zero or up. The format
 * has no infinity: a number that is too large becomes 2^127 if `finite`, else NaN. The smallest result is 2^-127.
 */
export function numberToUe8m0(value: number, mode: Extract<RoundingMode, "rz" | "rp">, finite: boolean): number {
  if (value !== value) return SCALE_NAN;
  const magnitude = Math.abs(value);
  if (magnitude < 2 ** -126) return mode === "rp" && magnitude > 2 ** -127 ? 1 : 0;
  // For infinity, too, this exceeds the format's range.
  const exponent = exponentOf(magnitude);
  const up = mode === "rp" && magnitude > powerOfTwo(exponent);
  const pattern = exponent + 127 + (up ? 1 : 0);
  return pattern < SCALE_NAN ? pattern : finite ? SCALE_NAN - 1 : SCALE_NAN;
}

/** Returns the value of a ue8m0 pattern: a power of two, or NaN. */
export const ue8m0ToNumber = (bits: number): number =>
  (bits & 0xff) === SCALE_NAN ? NaN : powerOfTwo((bits & 0xff) - 127);
