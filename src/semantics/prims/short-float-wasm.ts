import type { Minifloat } from "../../numeric/minifloat.ts";
import type { Lanes, Wasm } from "../../wasm/index.ts";
import { type Form, onHalves } from "../form.ts";
import type { Emission } from "../prim.ts";
import { oddIn32, type Rounding } from "./rounding-wasm.ts";

/** A floating-point format of at most 19 bits, whose patterns are in the low bits of a 32-bit integer. */
export interface ShortFloat {
  readonly fraction: number;
  /** The smallest normal number is 2^`emin`. */
  readonly emin: number;
  /** The sign bit. */
  readonly sign: number;
  /** The pattern that overflow and infinities become: that of infinity, or of the largest number. */
  readonly max: number;
  readonly nan: number;
  /** The smallest magnitude of a NaN, or null if there is none; and whether infinity is the pattern before it. */
  readonly firstNan: number | null;
  readonly infinity: boolean;
}

export const f16: ShortFloat = {
  fraction: 10,
  emin: -14,
  sign: 0x8000,
  max: 0x7c00,
  nan: 0x7fff,
  firstNan: 0x7c01,
  infinity: true,
};
export const bf16: ShortFloat = { ...f16, fraction: 7, emin: -126, max: 0x7f80, firstNan: 0x7f81 };

/** Returns a format to which conversions saturate. */
export function saturating({ fraction, emin, sign, max, nan, infinity }: Minifloat): ShortFloat {
  const firstNan = max + (infinity ? 2 : 1);
  return { fraction, emin, sign, max, nan, firstNan: firstNan < sign ? firstNan : null, infinity };
}

const int = (s: Lanes, value: number): Wasm => s.integer(BigInt(value));
const ALL_BUT_SIGN = 0x7fff_ffff;
const INFINITY = 0x7f80_0000;
const patternOfPower = (k: number): number => (k + 127) * 2 ** 23;

/** The number of fraction bits that binary32 has and the format lacks. */
const cutOf = (format: ShortFloat): number => 23 - format.fraction;

/** Returns the binary32 number of a pattern; bits above the sign are ignored. */
export function decoded(s: Lanes, bits: Wasm, format: ShortFloat): Wasm {
  const cut = cutOf(format);
  if (format === bf16) return s.fromBits(s.shl(bits, cut));
  const magnitude = s.and(bits, int(s, format.sign - 1));
  // Moves exponent and fraction to their places in binary32; the factor makes up for the difference between the
  // exponent biases.
  const scaled = s.bits(s.mul(s.fromBits(s.shl(magnitude, cut)), s.number(2 ** (126 + format.emin))));
  const signed = s.or(scaled, s.shl(s.and(bits, int(s, format.sign)), Math.clz32(format.sign)));
  if (format.firstNan === null) return s.fromBits(signed);
  const firstSpecial = format.firstNan - (format.infinity ? 1 : 0);
  const special = s.mask(s.less(int(s, firstSpecial - 1), magnitude));
  // This gives infinity if the fraction is 0. In a format without infinities it never is, so the result is NaN.
  return s.fromBits(s.or(signed, s.and(special, int(s, INFINITY))));
}

/** Rounds a magnitude, given as a binary32 pattern, to nearest even. The result is too large on overflow. */
function nearest(s: Lanes, magnitude: Wasm, { fraction, emin }: ShortFloat): Wasm {
  const cut = 23 - fraction;
  const minNormal = patternOfPower(emin);
  const rest = s.minus(magnitude, int(s, minNormal - 2 ** 23));
  const even = s.and(s.shrU(rest, cut), int(s, 1));
  const normal = s.shrU(s.plus(s.plus(rest, int(s, 2 ** (cut - 1) - 1)), even), cut);
  if (emin === -126) return normal;
  // The last place of this number is that of the format's subnormal numbers.
  const place = 2 ** (emin - fraction + 23);
  const moved = s.bits(s.add(s.fromBits(magnitude), s.number(place)));
  const subnormal = s.minus(moved, int(s, patternOfPower(emin - fraction + 23)));
  return s.select(s.less(magnitude, int(s, minNormal)), subnormal, normal);
}

/** Returns the pattern of a binary32 number, which may be one that was rounded to odd. */
export function encoded(s: Lanes, x: Wasm, format: ShortFloat, mode: Rounding = "rn"): Wasm {
  const bits = s.bits(x);
  const magnitude = s.and(bits, int(s, ALL_BUT_SIGN));
  const overflowing = nearest(s, magnitude, format);
  const max = int(s, format.max);
  const near = s.select(s.less(max, overflowing), max, overflowing);
  const rounded = mode === "rn" ? near : directed(s, bits, magnitude, near, format, mode);
  const sign = s.and(s.shrU(bits, Math.clz32(format.sign)), int(s, format.sign));
  return s.select(s.ne(x, x), int(s, format.nan), s.or(rounded, sign));
}

/** Returns `near`, the pattern of the magnitude's nearest neighbour, or that of the neighbour on the other side. */
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

/** Converts binary64 numbers to binary32 numbers that can be rounded to a shorter format. */
export function short32(form: Form, x: Wasm): Wasm {
  // A number that was just converted from binary32 is exact.
  if ("op" in x && (x.op === "f64.promote_f32" || x.op === "f64x2.promote_low_f32x4")) return x.args[0]!;
  return oddIn32(form, [x]);
}

/** Conversions of binary64 numbers to patterns and back. */
export const toShort = (format: ShortFloat, mode: Rounding = "rn"): Emission =>
  onHalves((form, x) => encoded(form.singles, short32(form, x), format, mode));
export const fromShort = (format: ShortFloat): Emission =>
  onHalves((form, bits) => form.widened(decoded(form.singles, bits, format))[0]!);
