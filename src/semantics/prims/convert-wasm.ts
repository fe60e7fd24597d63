import { type Lanes, type ValueOp, type Wasm, wasm } from "../../wasm/index.ts";
import { laneByLane } from "../expansion.ts";
import { onDoubles, onHalves } from "../form.ts";
import type { Emission } from "../prim.ts";
import { directed, type Rounding, round32, toOdd } from "./rounding-wasm.ts";

/** An emission that is a single operation for one value, and one for the low half of a vector. */
const halfOps = (scalar: ValueOp, half: ValueOp): Emission => ({
  scalar: (a) => wasm.op(scalar, a),
  half: (a) => wasm.op(half, a),
});

export const fromF32 = halfOps("f64.promote_f32", "f64x2.promote_low_f32x4");
export const fromI32 = {
  s: halfOps("f64.convert_i32_s", "f64x2.convert_low_i32x4_s"),
  u: halfOps("f64.convert_i32_u", "f64x2.convert_low_i32x4_u"),
};

export const toF32 = (mode: Rounding): Emission => onHalves((form, a) => round32(form, [a], mode));

/** Converts the two halves of a 64-bit integer to doubles, by placing each in the fraction of a power of two. */
function halvesOf(d: Lanes, a: Wasm, signed: boolean): [Wasm, Wasm] {
  const low = d.fromBits(d.or(d.and(a, d.integer(0xffff_ffffn)), d.integer(0x4330_0000_0000_0000n)));
  const high = d.shrU(a, 32);
  // A sign becomes a bias of 2^31 in units of 2^32.
  const biased = signed ? d.xor(high, d.integer(0x8000_0000n)) : high;
  const above = d.fromBits(d.or(biased, d.integer(0x4530_0000_0000_0000n)));
  return [d.sub(above, d.number(2 ** 84 + (signed ? 2 ** 63 : 0))), d.sub(low, d.number(2 ** 52))];
}

/** Converts 64-bit integers to doubles. */
export const fromI64 = (sign: "s" | "u", mode: Rounding | "odd"): Emission =>
  onDoubles((d, a) => {
    const [high, low] = halvesOf(d, a, sign === "s");
    const sum = d.add(high, low);
    if (mode === "rn") return sum;
    // The rounding error of the sum: exact, because the lower half is below the last place of the upper one, or that is
    // 0.
    const lost = d.sub(low, d.sub(sum, high));
    return mode === "odd" ? toOdd(d, sum, lost) : directed(d, sum, lost, mode);
  });

/** Converts doubles to integers, rounding towards zero and clamping. */
export const toI32 = {
  s: halfOps("i32.trunc_sat_f64_s", "i32x4.trunc_sat_f64x2_s_zero"),
  u: halfOps("i32.trunc_sat_f64_u", "i32x4.trunc_sat_f64x2_u_zero"),
};
export const toI64 = (op: "i64.trunc_sat_f64_s" | "i64.trunc_sat_f64_u"): Emission => {
  const scalar = (a: Wasm): Wasm => wasm.op(op, a);
  return { scalar, ...laneByLane(["f64"], "i64", scalar) };
};
/** The same for integers of 8 and 16 bits. */
const toSmallFrom =
  (ty: "f32" | "f64", width: "quad" | "half", vector: "i32x4.trunc_sat_f32x4_s" | "i32x4.trunc_sat_f64x2_s_zero") =>
  (sign: "s" | "u", min: number, max: number): Emission => ({
    scalar: (a) => {
      const above = wasm.op(`${ty}.max`, a, wasm[ty](min));
      return wasm.op(`i32.trunc_sat_${ty}_${sign}`, wasm.op(`${ty}.min`, above, wasm[ty](max)));
    },
    [width]: (a: Wasm) => {
      const above = wasm.op("i32x4.max_s", wasm.op(vector, a), wasm.i32x4(min));
      return wasm.op("i32x4.min_s", above, wasm.i32x4(max));
    },
  });
export const toSmall = toSmallFrom("f64", "half", "i32x4.trunc_sat_f64x2_s_zero");
export const toSmallFromF32 = toSmallFrom("f32", "quad", "i32x4.trunc_sat_f32x4_s");

export const relu = onDoubles((d, a) => d.max(a, d.number(0)));
export const limit = onDoubles((d, a, max) => d.max(d.min(a, max), d.neg(max)));

/** Clears the fraction of a number whose exponent field is 0. */
export const flushF16: Emission = {
  scalar: (a) => {
    const normal = wasm.op("i32.and", a, wasm.i32(0x7c00));
    return wasm.op("i32.and", a, wasm.select(normal, wasm.i32(0xffff), wasm.i32(0x8000)));
  },
  quad: (a) => {
    const normal = wasm.op("i32x4.gt_s", wasm.op("v128.and", a, wasm.i32x4(0x7c00)), wasm.i32x4(0));
    const kept = wasm.op("v128.or", wasm.op("i32x4.shr_u", normal, wasm.i32(17)), wasm.i32x4(0x8000));
    return wasm.op("v128.and", a, kept);
  },
};
