import { onHalves } from "../form.ts";
import type { Emission } from "../prim.ts";
import { short32 } from "./short-float-wasm.ts";

/** Converts to tf32: binary32 patterns whose 13 low bits are 0. A carry out of the fraction increments the exponent. */
export const toTf32 = (mode: "rn" | "rz" | "rna"): Emission =>
  onHalves((form, x) => {
    const { singles: s } = form;
    const value = short32(form, x);
    const bits = s.bits(value);
    const even = s.and(s.shrU(bits, 13), s.integer(1n));
    const rounded = {
      rn: () => s.plus(s.plus(bits, s.integer(0xfffn)), even),
      rz: () => bits,
      rna: () => s.plus(bits, s.integer(0x1000n)),
    }[mode]();
    return s.select(s.ne(value, value), s.integer(0x7fff_ffffn), s.andNot(rounded, s.integer(0x1fffn)));
  });

const FRACTION = (1n << 52n) - 1n;
/** The difference between the exponent biases of binary64 and ue8m0. */
const BIAS = 896n;

/**
 * Converts |x| to ue8m0, an exponent of two, rounded towards zero or up. A result that is too large becomes 2^127 if
 * `finite`, else NaN.
 */
export const toUe8m0 = (mode: "rz" | "rp", finite: boolean): Emission =>
  onHalves(({ doubles: d, wrapped }, x) => {
    const magnitude = d.bits(d.abs(x));
    const isGreater = (bound: number) => d.less(d.bits(d.number(bound)), magnitude);
    const none = d.integer(0n);
    const step = mode === "rp" ? d.mask(d.not(d.same(d.and(magnitude, d.integer(FRACTION)), none))) : none;
    const pattern = d.minus(d.minus(d.shrU(magnitude, 52), d.integer(BIAS)), step);
    const tiny = mode === "rp" ? d.and(d.mask(isGreater(2 ** -127)), d.integer(1n)) : none;
    const positive = d.select(d.lt(d.abs(x), d.number(2 ** -126)), tiny, pattern);
    const limited = d.select(d.less(positive, d.integer(0xffn)), positive, d.integer(finite ? 0xfen : 0xffn));
    return wrapped(d.select(d.ne(x, x), d.integer(0xffn), limited));
  });

export const fromUe8m0 = onHalves(({ doubles: d, extended }, x) => {
  const pattern = d.and(extended(x), d.integer(0xffn));
  const power = d.fromBits(d.shl(d.plus(pattern, d.integer(BIAS)), 52));
  return d.select(d.same(pattern, d.integer(0xffn)), d.number(NaN), power);
});
