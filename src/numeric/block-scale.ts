import { exponentOf, powerOfTwo } from "./binary64-bits.ts";
import { minifloats, minifloatToNumber } from "./minifloat.ts";

/** A scale of a block of elements: its value is `significand` times 2^`exponent`. */
export interface BlockScale {
  readonly significand: number;
  readonly exponent: number;
}

/** The formats of scales. */
export type ScaleFormat = "ue8m0" | "ue4m3";

const nan: BlockScale = { significand: NaN, exponent: 0 };

/** The scale with a pattern of 8 bits. ue8m0 is a power of two; of ue4m3 the highest bit is not used. */
export function blockScale(format: ScaleFormat, pattern: number): BlockScale {
  if (format === "ue8m0") return pattern === 0xff ? nan : { significand: 1, exponent: pattern - 127 };
  const { emin } = minifloats.e4m3;
  const value = minifloatToNumber(pattern & 0x7f, minifloats.e4m3);
  if (Number.isNaN(value)) return nan;
  const exponent = value === 0 ? emin : Math.max(exponentOf(value), emin);
  return { significand: value * powerOfTwo(-exponent), exponent };
}
