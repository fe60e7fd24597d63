import { minifloats } from "../numeric/minifloat.ts";
import type { TensorFormat } from "../numeric/tensor.ts";
import { type Wasm, wasm } from "../wasm/index.ts";

/** The exponent by which a zero counts (`tensorExponent`). */
const ZERO_EXPONENT = -126;

/**
 * Exponents of numbers whose products, scaled or not, are exact in binary32 and far from its smallest normal number.
 * The formats with fewer bits of exponent have no others.
 */
const minExponent = -38;
const maxExponent = 45;

/** Eight elements with the exponents by which they count. */
export interface WideElements {
  /** The first four elements as binary32, and the last four. */
  readonly low: Wasm;
  readonly high: Wasm;
  /** Eight integers of 16 bits. */
  readonly exponents: Wasm;
  /** All bits of an integer of 16 bits are set for an infinity, a NaN, or an exponent beyond the bounds. */
  readonly problems: Wasm | null;
}

const op = wasm.op;
const shl = (vector: Wasm, count: number): Wasm => (count === 0 ? vector : op("i16x8.shl", vector, wasm.i32(count)));
const and16 = (vector: Wasm, mask: number): Wasm => op("v128.and", vector, wasm.i16x8(mask));

/** Eight patterns of 16 bits, of f16 or of a narrower format that has been moved into the fields of f16. */
function half(x: Wasm, bias: number, most: number): WideElements {
  const magnitude = and16(x, 0x7fff);
  const field = op("i16x8.max_s", op("i16x8.shr_u", magnitude, wasm.i32(10)), wasm.i16x8(1));
  // The bits of a half as those of a binary32, whose exponent has another bias; subnormal numbers stay in order.
  const number = (wide: Wasm): Wasm => {
    const bits = op("v128.and", op("i32x4.shl", wide, wasm.i32(13)), wasm.i32x4(0x8fff_ffff));
    return op("f32x4.mul", bits, wasm.f32x4(2 ** (127 - bias)));
  };
  return {
    low: number(op("i32x4.extend_low_i16x8_s", x)),
    high: number(op("i32x4.extend_high_i16x8_s", x)),
    exponents: orZero(op("i16x8.eq", magnitude, wasm.i16x8(0)), op("i16x8.sub", field, wasm.i16x8(bias))),
    problems: most === 0x7fff ? null : op("i16x8.gt_s", magnitude, wasm.i16x8(most)),
  };
}

const orZero = (isZero: Wasm, exponents: Wasm): Wasm => wasm.blend(isZero, wasm.i16x8(ZERO_EXPONENT), exponents);

function bf16(x: Wasm): WideElements {
  const exponents = op("i16x8.sub", and16(op("i16x8.shr_u", x, wasm.i32(7)), 0xff), wasm.i16x8(127));
  const isZero = op("i16x8.eq", and16(x, 0x7fff), wasm.i16x8(0));
  const beyond = op(
    "v128.or",
    op("i16x8.lt_s", exponents, wasm.i16x8(minExponent)),
    op("i16x8.gt_s", exponents, wasm.i16x8(maxExponent)),
  );
  return {
    low: op("i32x4.shl", op("i32x4.extend_low_i16x8_u", x), wasm.i32(16)),
    high: op("i32x4.shl", op("i32x4.extend_high_i16x8_u", x), wasm.i32(16)),
    exponents: orZero(isZero, exponents),
    problems: op("v128.andnot", beyond, isZero),
  };
}

/** Four numbers of tf32, with their exponents as integers of 32 bits. */
export interface WideSingles {
  readonly number: Wasm;
  readonly exponents: Wasm;
  readonly problems: Wasm;
}

export function widenSingles(x: Wasm): WideSingles {
  const number = op("v128.and", x, wasm.i32x4(~0x1fff));
  const exponents = op(
    "i32x4.sub",
    op("i32x4.shr_u", op("i32x4.shl", number, wasm.i32(1)), wasm.i32(24)),
    wasm.i32x4(127),
  );
  const isZero = op("i32x4.eq", op("i32x4.shl", number, wasm.i32(1)), wasm.i32x4(0));
  const beyond = op(
    "v128.or",
    op("i32x4.lt_s", exponents, wasm.i32x4(minExponent)),
    op("i32x4.gt_s", exponents, wasm.i32x4(maxExponent)),
  );
  return {
    number,
    exponents: wasm.blend(isZero, wasm.i32x4(ZERO_EXPONENT), exponents),
    problems: op("v128.andnot", beyond, isZero),
  };
}

/**
 * The grid on which it is looked for common units: multiples of 2^-`bits`, less than 2^(31 - bits). Whether all numbers
 * of the format lie on it.
 */
export function gridOf(format: TensorFormat): { readonly bits: number; readonly isComplete: boolean } {
  if (format === "bf16" || format === "tf32") return { bits: 16, isComplete: false };
  if (format === "f16") return { bits: 24, isComplete: true };
  const { emin, fraction } = minifloats[format];
  return { bits: fraction - emin, isComplete: true };
}

/**
 * The last bit of the significand in each element of a word, for formats whose products have more bits than exact sums
 * leave room for; null for the others.
 */
export function lastBits(format: TensorFormat): number | null {
  if (format === "f16") return 0x0001_0001;
  return format === "tf32" ? 1 << 13 : null;
}

/** Bits of an element in a register. */
export const containerBits = (format: TensorFormat): 8 | 16 | 32 =>
  format === "tf32" ? 32 : format === "f16" || format === "bf16" ? 16 : 8;

/** Moves eight patterns of 8 bits, each in 16, into the fields of f16. */
function asHalves(format: Exclude<TensorFormat, "f16" | "bf16" | "tf32">, bytes: Wasm): Wasm {
  const { sign, fraction } = minifloats[format];
  // In a container of 8 bits an e2m1 is in the middle.
  const x = format === "e2m1" ? op("i16x8.shr_u", bytes, wasm.i32(2)) : bytes;
  return op("v128.or", shl(and16(x, sign), 15 - Math.log2(sign)), shl(and16(x, sign - 1), 10 - fraction));
}

/** Widens eight elements of 16 bits, or of 8 in 16. */
export function widen(format: Exclude<TensorFormat, "tf32">, x: Wasm): WideElements {
  switch (format) {
    case "f16":
      return half(x, 15, 0x7bff);
    case "bf16":
      return bf16(x);
    default: {
      const { fraction, emin, max, sign } = minifloats[format];
      const hasOthers = max !== sign - 1;
      return half(asHalves(format, x), 1 - emin, hasOthers ? max << (10 - fraction) : 0x7fff);
    }
  }
}
