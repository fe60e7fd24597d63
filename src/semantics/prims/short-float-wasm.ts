import type { Minifloat } from "../../numeric/minifloat.ts";
import type { Lanes, Wasm } from "../../wasm/index.ts";
import { type Form, onHalves } from "../form.ts";
import type { Emission } from "../prim.ts";
import { oddIn32, type Rounding } from "./rounding-wasm.ts";

/** A floating-point format of 19 bits or fewer, whose patterns are held in the low bits of 32. */
export interface ShortFloat {
  readonly fraction: number;
  /** The least normal number is 2^`emin`. */
  readonly emin: number;
  /** The place of the sign. */
  readonly sign: number;
  /** What overflows and infinities become: the pattern of infinity, or of the greatest number. */
  readonly most: number;
  readonly nan: number;
  /** The least magnitude of a NaN, if there are any, and whether infinity is the pattern before it. */
  readonly firstNan: number | null;
  readonly infinity: boolean;
}

export const f16: ShortFloat = {
  fraction: 10,
  emin: -14,
  sign: 0x8000,
  most: 0x7c00,
  nan: 0x7fff,
  firstNan: 0x7c01,
  infinity: true,
};
export const bf16: ShortFloat = { ...f16, fraction: 7, emin: -126, most: 0x7f80, firstNan: 0x7f81 };

/** A format to which conversions saturate. */
export function saturating({ fraction, emin, sign, max, nan, infinity }: Minifloat): ShortFloat {
  const firstNan = max + (infinity ? 2 : 1);
  return { fraction, emin, sign, most: max, nan, firstNan: firstNan < sign ? firstNan : null, infinity };
}

const int = (s: Lanes, value: number): Wasm => s.integer(BigInt(value));
const ALL_BUT_SIGN = 0x7fff_ffff;
const INFINITY = 0x7f80_0000;
const patternOfPower = (k: number): number => (k + 127) * 2 ** 23;

/** How far the last place of a format is above that of binary32. */
const cutOf = (format: ShortFloat): number => 23 - format.fraction;

/** The binary32 number of a pattern; bits above the sign are ignored. */
export function decoded(s: Lanes, bits: Wasm, format: ShortFloat): Wasm {
  const cut = cutOf(format);
  if (format === bf16) return s.fromBits(s.shl(bits, cut));
  const magnitude = s.and(bits, int(s, format.sign - 1));
  // Exponent and fraction at their places in binary32; the factor makes up for the difference of the exponents' biases.
  const scaled = s.bits(s.mul(s.fromBits(s.shl(magnitude, cut)), s.number(2 ** (126 + format.emin))));
  const signed = s.or(scaled, s.shl(s.and(bits, int(s, format.sign)), Math.clz32(format.sign)));
  if (format.firstNan === null) return s.fromBits(signed);
  const firstSpecial = format.firstNan - (format.infinity ? 1 : 0);
  const special = s.mask(s.less(int(s, firstSpecial - 1), magnitude));
  // The fraction of infinity is 0; of a format without infinities, that of NaN is not.
  return s.fromBits(s.or(signed, s.and(special, int(s, INFINITY))));
}

/** The pattern of a magnitude, a binary32 pattern, rounded to nearest even; too large if it overflows. */
function nearest(s: Lanes, magnitude: Wasm, { fraction, emin }: ShortFloat): Wasm {
  const cut = 23 - fraction;
  const leastNormal = patternOfPower(emin);
  const rest = s.minus(magnitude, int(s, leastNormal - 2 ** 23));
  const even = s.and(s.shrU(rest, cut), int(s, 1));
  const normal = s.shrU(s.plus(s.plus(rest, int(s, 2 ** (cut - 1) - 1)), even), cut);
  if (emin === -126) return normal;
  // The last place of this number is that of subnormal numbers of the format.
  const place = 2 ** (emin - fraction + 23);
  const moved = s.bits(s.add(s.fromBits(magnitude), s.number(place)));
  const subnormal = s.minus(moved, int(s, patternOfPower(emin - fraction + 23)));
  return s.select(s.less(magnitude, int(s, leastNormal)), subnormal, normal);
}

/** The pattern of a binary32 number, or of one that was rounded to odd. */
export function encoded(s: Lanes, x: Wasm, format: ShortFloat, mode: Rounding = "rn"): Wasm {
  const bits = s.bits(x);
  const magnitude = s.and(bits, int(s, ALL_BUT_SIGN));
  const overflowing = nearest(s, magnitude, format);
  const most = int(s, format.most);
  const near = s.select(s.less(most, overflowing), most, overflowing);
  const rounded = mode === "rn" ? near : directed(s, bits, magnitude, near, format, mode);
  const sign = s.and(s.shrU(bits, Math.clz32(format.sign)), int(s, format.sign));
  return s.select(s.ne(x, x), int(s, format.nan), s.or(rounded, sign));
}

/** The pattern `near` of the magnitude's nearest neighbour, or the one on the other side. */
function directed(
  s: Lanes,
  bits: Wasm,
  magnitude: Wasm,
  near: Wasm,
  format: ShortFloat,
  mode: Exclude<Rounding, "rn">,
): Wasm {
  const back = decoded(s, near, format);
  const above = s.mask(s.gt(back, s.fromBits(magnitude)));
  if (mode === "rz") return s.plus(near, above);
  const below = s.mask(s.lt(back, s.fromBits(magnitude)));
  const negative = s.shrS(bits, 31);
  const outward = mode === "rm" ? negative : s.xor(negative, int(s, -1));
  const inward = s.xor(outward, int(s, -1));
  return s.minus(s.plus(near, s.and(above, inward)), s.and(below, outward));
}

/** binary64 numbers as binary32 numbers from which a shorter format can be rounded. */
export function short32(form: Form, x: Wasm): Wasm {
  // What has been a binary32 number just before is exact.
  if ("op" in x && (x.op === "f64.promote_f32" || x.op === "f64x2.promote_low_f32x4")) return x.args[0]!;
  return oddIn32(form, [x]);
}

/** Conversions of binary64 numbers to patterns and back. */
export const toShort = (format: ShortFloat, mode: Rounding = "rn"): Emission =>
  onHalves((form, x) => encoded(form.singles, short32(form, x), format, mode));
export const fromShort = (format: ShortFloat): Emission =>
  onHalves((form, bits) => form.widened(decoded(form.singles, bits, format))[0]!);
