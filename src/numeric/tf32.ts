import { signBit } from "./binary64-bits.ts";
import { nan32 } from "./float-pattern.ts";
import { overflowsToInfinity, type RoundingMode, roundedMagnitude } from "./rounding.ts";

const INFINITY = 0xff << 10;

/**
 * Returns the tf32 pattern of a double, rounded once: a binary32 pattern whose 13 low bits are 0. NaN gives `nan32`.
 */
export function numberToTf32(value: number, mode: Extract<RoundingMode, "rn" | "rz" | "rna">): number {
  if (value !== value) return nan32;
  const infinite = value === Infinity || value === -Infinity;
  const magnitude = infinite ? INFINITY : roundedMagnitude(value, 10, -126, mode);
  const limit = infinite || overflowsToInfinity(mode, false) ? INFINITY : INFINITY - 1;
  return ((magnitude < limit ? magnitude : limit) << 13) | (signBit(value) ? 0x8000_0000 : 0);
}
