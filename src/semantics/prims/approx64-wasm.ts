import type { Lanes, Wasm } from "../../wasm/index.ts";
import { onDoubles } from "../form.ts";
import type { Emission } from "../prim.ts";

/** WebAssembly code for `numeric/approx64.ts`: functions that map the upper word of a double to another upper word. */

const UPPER = 0xffff_ffff_0000_0000n;
const EXPONENT = 0x7ff0_0000_0000_0000n;
const SIGN = 1n << 63n;
const NAN = 0x7fff_ffff_0000_0000n;

/** Returns only the sign of a pattern whose exponent field is 0, else `normal`. */
const flushed = (d: Lanes, bits: Wasm, normal: Wasm): Wasm => {
  const subnormal = d.same(d.and(bits, d.integer(EXPONENT)), d.integer(0n));
  return d.select(subnormal, d.and(bits, d.integer(SIGN)), normal);
};

const ofUpperWord = (f: (d: Lanes, x: Wasm) => Wasm): Emission =>
  onDoubles((d, bits) => {
    const value = f(d, d.fromBits(flushed(d, bits, d.and(bits, d.integer(UPPER)))));
    const result = d.bits(value);
    // Rounded to nearest even; a carry out of the fraction increments the exponent.
    const even = d.and(d.shrU(result, 32), d.integer(1n));
    const rounded = d.plus(d.plus(result, d.integer(0x7fff_ffffn)), even);
    const pattern = flushed(d, result, d.and(rounded, d.integer(UPPER)));
    return d.select(d.ne(value, value), d.integer(NAN), pattern);
  });

export const emitReciprocal64 = ofUpperWord((d, x) => d.div(d.number(1), x));
export const emitReciprocalRoot64 = ofUpperWord((d, x) => d.div(d.number(1), d.sqrt(x)));
