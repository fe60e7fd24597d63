import type { Expansion } from "../expansion.ts";
import type { ShortFloat } from "./short-float-wasm.ts";

/** The width of binary64's fraction, and how many of its bits binary32 lacks. */
const FRACTION = 52;
const BEYOND_SINGLE = 29;
/** Adding this to a smaller integer leaves the integer in the low bits. */
const INTEGERS = 2 ** FRACTION;

/**
 * Adds random bits to the highest discarded bits; a carry increments the pattern. The random bits end at binary32's
 * last place if the number is normal in the format, and `count` bits below the format's last place if it is subnormal.
 */
export const toShortStochastic = (format: ShortFloat, count: number): Expansion => ({
  expand: ({ doubles: d, extended, wrapped }, x, random) => {
    const { fraction, emin, max, sign, nan } = format;
    const int = (value: number) => d.integer(BigInt(value));
    const magnitude = d.abs(x!);
    const added = d.and(extended(random!), int(2 ** count - 1));
    const carried = d.plus(d.bits(magnitude), d.shl(added, BEYOND_SINGLE));
    // The exponent field of the smallest normal number is 1 in the format and 1023 + emin in binary64.
    const normal = d.minus(d.shrU(carried, FRACTION - fraction), int((1022 + emin) * 2 ** fraction));
    const places = d.floor(d.mul(magnitude, d.number(2 ** (fraction - emin + count))));
    const integer = d.minus(d.bits(d.add(places, d.number(INTEGERS))), d.bits(d.number(INTEGERS)));
    const subnormal = d.shrU(d.plus(integer, added), count);
    const pattern = d.select(d.lt(magnitude, d.number(2 ** emin)), subnormal, normal);
    const limited = d.select(d.less(pattern, int(max)), pattern, int(max));
    const signed = d.or(limited, d.and(d.shrU(d.bits(x!), 64 - 16), int(sign)));
    return wrapped(d.select(d.ne(x!, x!), int(nan), signed));
  },
});
