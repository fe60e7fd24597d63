import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { withOneNan } from "../lanes/canonical-nan.ts";

const { op } = wasm;

/** The first two of four 32-bit elements, or the other two in their place. */
export const halfOf = (value: Wasm, h: 0 | 1): Wasm => (h === 0 ? value : wasm.shuffle32(value, value, [2, 3, 2, 3]));

/** The elements that two vectors have in their first halves. */
export const joined = (low: Wasm, high: Wasm): Wasm => wasm.shuffle32(low, high, [0, 1, 4, 5]);

/** Puts a value that is used more than once into a local. */
export type Keep = (value: Wasm) => Wasm;

/** Writes a value to a local. What is kept for it meanwhile is in locals that are given back then. */
export function assignKeeping(w: FunctionWriter, to: number, make: (keep: Keep) => Wasm): void {
  const used: number[] = [];
  const value = make((kept) => {
    const local = w.local(kept.ty);
    w.assign([{ local, value: kept }]);
    used.push(local);
    return wasm.local(kept.ty, local);
  });
  w.assign([{ local: to, value }]);
  for (const local of used) w.release(local);
}

/** Rounds floats of 32 bits to halves in elements of 32 bits, as `numberToF16` does: ties to even, one NaN. */
export function halvesOfFloats(keep: Keep, floats: Wasm): Wasm {
  const bits = keep(floats);
  const magnitude = keep(op("v128.and", bits, wasm.i32x4(0x7fff_ffff)));
  // The exponent of binary32 is larger by 112. What is larger than all halves, infinity too, is infinity.
  const odd = op("v128.and", op("i32x4.shr_u", magnitude, wasm.i32(13)), wasm.i32x4(1));
  const rounded = op("i32x4.add", op("i32x4.add", magnitude, wasm.i32x4(0xfff)), odd);
  const moved = op("i32x4.shr_u", op("i32x4.sub", rounded, wasm.i32x4(112 << 23)), wasm.i32(13));
  const normal = op("i32x4.min_u", moved, wasm.i32x4(0x7c00));
  // The unit of subnormal halves is that of the last place of 0.5.
  const subnormal = op("i32x4.sub", op("f32x4.add", magnitude, wasm.f32x4(0.5)), wasm.f32x4(0.5));
  const isNormal = op("i32x4.ge_s", magnitude, wasm.i32x4((127 - 14) << 23));
  const sign = op("v128.and", op("i32x4.shr_u", bits, wasm.i32(16)), wasm.i32x4(0x8000));
  const number = op("v128.or", wasm.blend(isNormal, normal, subnormal), sign);
  const isNan = op("i32x4.gt_s", magnitude, wasm.i32x4(0x7f80_0000));
  return wasm.blend(isNan, wasm.i32x4(0x7fff), number);
}

/** Rounds numbers of binary64 to halves once: two vectors of two to one of four. */
export function halvesOfDoubles(keep: Keep, low: Wasm, high: Wasm): Wasm {
  const [one, other] = [low, high].map((doubles) => {
    const bits = keep(doubles);
    // Binary32 without its last bits, of which the last one says that there were others: enough to round to 11 bits.
    const cut = wasm.i64x2(0x1fff_ffffn);
    const isInexact = op("i64x2.ne", op("v128.and", bits, cut), wasm.i64x2(0n));
    const sticky = op("v128.and", isInexact, wasm.i64x2(0x2000_0000n));
    return op("f32x4.demote_f64x2_zero", op("v128.or", op("v128.andnot", bits, cut), sticky));
  });
  return halvesOfFloats(keep, joined(one!, other!));
}

/** Rounds numbers of binary64 to floats of 32 bits: two vectors of two to one of four. There is one NaN. */
export function floatsOfDoubles(keep: Keep, low: Wasm, high: Wasm): Wasm {
  const value = keep(joined(op("f32x4.demote_f64x2_zero", low), op("f32x4.demote_f64x2_zero", high)));
  return withOneNan("f32", value);
}

/**
 * Coefficients of a polynomial that is w^0.8 for w from 0.3 to 1, to nine digits: enough that for all 255 fractions of
 * 8 bits the float of 32 bits is the one of `linearOfSrgb`.
 */
const power = [
  0.018_497_231_571_327_544, 1.598_052_000_730_975_8, -2.595_851_652_170_565_7, 8.235_443_267_326_527,
  -21.892_264_002_967_12, 45.180_477_638_728_79, -71.024_612_824_652_07, 83.968_927_490_449_35, -73.291_057_165_451_58,
  45.762_394_474_824_87, -19.323_876_881_471_74, 4.941_595_448_482_085, -0.577_725_025_551_894_2,
];

/** The linear intensities of fractions of 8 bits in sRGB. */
export function linearOfSrgb(keep: Keep, fractions: Wasm): Wasm {
  const all = keep(fractions);
  const [low, high] = ([0, 1] as const).map((h) => {
    const value = keep(op("f64x2.promote_low_f32x4", halfOf(all, h)));
    const base = keep(op("f64x2.div", op("f64x2.add", value, wasm.f64x2(0.055)), wasm.f64x2(1.055)));
    const root = keep(op("f64x2.sqrt", base));
    const sum = power.reduceRight<Wasm | null>(
      (rest, coefficient) =>
        rest === null ? wasm.f64x2(coefficient) : op("f64x2.add", op("f64x2.mul", rest, root), wasm.f64x2(coefficient)),
      null,
    )!;
    const curve = op("f64x2.mul", op("f64x2.mul", sum, base), base);
    const line = op("f64x2.div", value, wasm.f64x2(12.92));
    const chosen = wasm.blend(op("f64x2.le", value, wasm.f64x2(0.040_45)), line, curve);
    return op("f32x4.demote_f64x2_zero", chosen);
  });
  return joined(low!, high!);
}

/** 1 or 0 as floats: whether depths pass. Each bit of `compare` says whether a relation does: see `imageWords`. */
export function passedDepths(keep: Keep, given: Wasm, depth: Wasm, compare: Wasm): Wasm {
  const where = (bit: number, mask: Wasm): Wasm => {
    const chosen = op("i32.and", op("i32.shr_u", compare, wasm.i32(bit)), wasm.i32(1));
    return op("v128.and", mask, op("i32x4.splat", op("i32.sub", wasm.i32(0), chosen)));
  };
  const less = keep(op("f32x4.lt", given, depth));
  const equal = keep(op("f32x4.eq", given, depth));
  const greater = keep(op("f32x4.gt", given, depth));
  const none = op("v128.not", op("v128.or", op("v128.or", less, equal), greater));
  const ordered = op("v128.or", op("v128.or", where(0, less), where(1, equal)), where(2, greater));
  return op("v128.and", op("v128.or", ordered, where(3, none)), wasm.f32x4(1));
}

/** The remainder of 32-bit integers, not negative: quotients of binary64 are exact enough to be rounded down. */
export function moduloOf(index: Wasm, period: Wasm): Wasm {
  const n = op("f64x2.splat", op("f64.convert_i32_s", period));
  const rest = (h: 0 | 1): Wasm => {
    const value = op("f64x2.convert_low_i32x4_s", halfOf(index, h));
    const quotient = op("f64x2.floor", op("f64x2.div", value, n));
    return op("i32x4.trunc_sat_f64x2_s_zero", op("f64x2.sub", value, op("f64x2.mul", quotient, n)));
  };
  return joined(rest(0), rest(1));
}
