import { awayFromZero, isOdd, towardsZero } from "./binary64-bits.ts";
import type { RoundingMode } from "./rounding.ts";

/**
 * A 64-bit integer as a double. `odd`: what 53 bits do not hold is cut off and marked by an odd last bit, so that a second
 * rounding, to 51 bits or fewer, ends where a single one would.
 */
export function integerToNumber(value: bigint, mode: Exclude<RoundingMode, "rna"> | "odd"): number {
  const nearest = Number(value);
  if (mode === "rn") return nearest;
  const back = BigInt(nearest);
  if (back === value) return nearest;
  const negative = nearest < 0;
  const outward = negative ? back < value : back > value;
  if (mode === "odd") {
    const truncated = outward ? towardsZero(nearest) : nearest;
    return isOdd(truncated) ? truncated : awayFromZero(truncated);
  }
  const grows = mode === (negative ? "rm" : "rp");
  if (grows) return outward ? nearest : awayFromZero(nearest);
  return outward ? towardsZero(nearest) : nearest;
}

const HALF_RANGE = 2 ** 63;
const FULL_RANGE = 2 ** 64;

/** A double as a signed 64-bit integer, rounded towards zero and limited to its range. NaN gives 0. */
export function clampToS64(x: number): bigint {
  if (x >= HALF_RANGE) return 0x7fff_ffff_ffff_ffffn;
  if (x < -HALF_RANGE) return -0x8000_0000_0000_0000n;
  return x === x ? BigInt(Math.trunc(x)) : 0n;
}

/** A double as the pattern of an unsigned 64-bit integer, rounded towards zero and limited to its range. NaN gives 0. */
export const clampToU64 = (x: number): bigint =>
  x >= FULL_RANGE ? -1n : x > 0 ? BigInt.asIntN(64, BigInt(Math.trunc(x))) : 0n;

/** Doubles of this magnitude and more are integers. */
const INTEGERS = 2 ** 52;

/** Rounds to an integer, ties to even; the sign of a zero stays. */
export const roundToEven = (x: number): number =>
  x > 0 && x < INTEGERS ? x + INTEGERS - INTEGERS : x < 0 && x > -INTEGERS ? -(INTEGERS - x - INTEGERS) : x;
