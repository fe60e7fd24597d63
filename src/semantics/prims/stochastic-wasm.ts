import type { Expansion } from "../expansion.ts";
import type { ShortFloat } from "./short-float-wasm.ts";

/** Bits of binary64's fraction, and those of them that binary32 has not. */
const FRACTION = 52;
const BEYOND_SINGLE = 29;
/** Adding it to an integer below leaves the integer in the low bits. */
const INTEGERS = 2 ** FRACTION;

/**
 * Random bits are added to the first ones that are cut off, whose carry steps the pattern: the place is that of binary32's last bit where
 * the number is normal in the format, and `count` bits below the last one where it is subnormal.
 */
export const toShortStochastic = (format: ShortFloat, count: number): Expansion => ({
  expand: ({ doubles: d, extended, wrapped }, x, random) => {
    const { fraction, emin, most, sign, nan } = format;
    const int = (value: number) => d.integer(BigInt(value));
    const magnitude = d.abs(x!);
    const added = d.and(extended(random!), int(2 ** count - 1));
    const carried = d.plus(d.bits(magnitude), d.shl(added, BEYOND_SINGLE));
    // The least normal exponent is 1 in the format and 1023 + emin in binary64.
    const normal = d.minus(d.shrU(carried, FRACTION - fraction), int((1022 + emin) * 2 ** fraction));
    const places = d.floor(d.mul(magnitude, d.number(2 ** (fraction - emin + count))));
    const integer = d.minus(d.bits(d.add(places, d.number(INTEGERS))), d.bits(d.number(INTEGERS)));
    const subnormal = d.shrU(d.plus(integer, added), count);
    const pattern = d.select(d.lt(magnitude, d.number(2 ** emin)), subnormal, normal);
    const limited = d.select(d.less(pattern, int(most)), pattern, int(most));
    const signed = d.or(limited, d.and(d.shrU(d.bits(x!), 64 - 16), int(sign)));
    return wrapped(d.select(d.ne(x!, x!), int(nan), signed));
  },
});
