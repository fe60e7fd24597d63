import { awayFromZero, isOdd, towardsZero } from "./binary64-bits.ts";
import type { RoundingMode } from "./rounding.ts";

/**
 * Converts a 64-bit integer to a double. `odd` rounds to odd, so that a second rounding, to 51 bits or fewer, gives the
 * same as a single one.
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

/** Converts a double to a signed 64-bit integer, rounding towards zero and clamping to its range. NaN gives 0. */
export function clampToS64(x: number): bigint {
  if (x >= HALF_RANGE) return 0x7fff_ffff_ffff_ffffn;
  if (x < -HALF_RANGE) return -0x8000_0000_0000_0000n;
  return x === x ? BigInt(Math.trunc(x)) : 0n;
}

/**
 * Converts a double to the bit pattern of an unsigned 64-bit integer, rounding towards zero and clamping to its range.
 * NaN gives 0.
 */
export const clampToU64 = (x: number): bigint =>
  x >= FULL_RANGE ? -1n : x > 0 ? BigInt.asIntN(64, BigInt(Math.trunc(x))) : 0n;

/** Doubles of at least this magnitude are integers. */
const INTEGERS = 2 ** 52;

/** Rounds to an integral number, ties to even; a zero keeps its sign. */
export const roundToEven = (x: number): number =>
  x > 0 && x < INTEGERS ? x + INTEGERS - INTEGERS : x < 0 && x > -INTEGERS ? -(INTEGERS - x - INTEGERS) : x;
