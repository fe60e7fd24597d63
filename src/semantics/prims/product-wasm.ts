import { type Wasm, wasm } from "../../wasm/index.ts";
import type { Emission } from "../prim.ts";
import { productOfExtended } from "../uniform.ts";

type Sign = "s" | "u";

export const mulHigh32 = (sign: Sign): Emission => ({
  scalar: (a, b) => {
    const wide = (x: Wasm): Wasm => wasm.op(`i64.extend_i32_${sign}`, x);
    return wasm.op("i32.wrap_i64", wasm.op("i64.shr_u", wasm.op("i64.mul", wide(a!), wide(b!)), wasm.i64(32n)));
  },
  quad: (a, b) => {
    const low = wasm.op(`i64x2.extmul_low_i32x4_${sign}`, a!, b!);
    const high = wasm.op(`i64x2.extmul_high_i32x4_${sign}`, a!, b!);
    return wasm.shuffle32(low, high, [1, 3, 5, 7]);
  },
});

/** Multiplies 64-bit integers. Address arithmetic and `mul.wide` multiply extended 32-bit numbers, which is cheaper. */
export const mul64: Emission = {
  scalar: (a, b) => wasm.op("i64.mul", a!, b!),
  half: (a, b) => productOfExtended(a!, b!) ?? wasm.op("i64x2.mul", a!, b!),
};

/** Arithmetic on 64-bit values and their halves. */
interface Longs {
  /**
   * `lowHalf` and `highHalf` return halves in the form that `mul` takes; `low` and `carry` return them as 64-bit
   * values.
   */
  readonly lowHalf: (a: Wasm) => Wasm;
  readonly highHalf: (a: Wasm) => Wasm;
  readonly mul: (a: Wasm, b: Wasm) => Wasm;
  readonly low: (a: Wasm) => Wasm;
  readonly carry: (a: Wasm) => Wasm;
  readonly add: (a: Wasm, b: Wasm) => Wasm;
  readonly sub: (a: Wasm, b: Wasm) => Wasm;
  /** `b` where `a` is negative, else 0. */
  readonly ifNegative: (a: Wasm, b: Wasm) => Wasm;
}

const low64 = (a: Wasm): Wasm => wasm.op("i64.and", a, wasm.i64(0xffff_ffffn));
const high64 = (a: Wasm): Wasm => wasm.op("i64.shr_u", a, wasm.i64(32n));
const scalars: Longs = {
  lowHalf: low64,
  highHalf: high64,
  mul: (a, b) => wasm.op("i64.mul", a, b),
  low: low64,
  carry: high64,
  add: (a, b) => wasm.op("i64.add", a, b),
  sub: (a, b) => wasm.op("i64.sub", a, b),
  ifNegative: (a, b) => wasm.op("i64.and", wasm.op("i64.shr_s", a, wasm.i64(63n)), b),
};
const vectors: Longs = {
  lowHalf: (a) => wasm.shuffle32(a, a, [0, 2, 0, 2]),
  highHalf: (a) => wasm.shuffle32(a, a, [1, 3, 1, 3]),
  mul: (a, b) => wasm.op("i64x2.extmul_low_i32x4_u", a, b),
  low: (a) => wasm.op("v128.and", a, wasm.i64x2(0xffff_ffffn)),
  carry: (a) => wasm.op("i64x2.shr_u", a, wasm.i32(32)),
  add: (a, b) => wasm.op("i64x2.add", a, b),
  sub: (a, b) => wasm.op("i64x2.sub", a, b),
  ifNegative: (a, b) => wasm.op("v128.and", wasm.op("i64x2.lt_s", a, wasm.i64x2(0n)), b),
};

/**
 * The high half of the product, computed from 32-bit halves: every partial sum stays below 2^64. The signed product is
 * the unsigned one minus the contribution of the signs.
 */
function high({ lowHalf, highHalf, mul, low, carry, add, sub, ifNegative }: Longs, sign: Sign, a: Wasm, b: Wasm): Wasm {
  const [aLow, aHigh, bLow, bHigh] = [lowHalf(a), highHalf(a), lowHalf(b), highHalf(b)];
  const middle = add(mul(aHigh, bLow), carry(mul(aLow, bLow)));
  const carried = add(mul(aLow, bHigh), low(middle));
  const unsigned = add(add(mul(aHigh, bHigh), carry(middle)), carry(carried));
  return sign === "u" ? unsigned : sub(sub(unsigned, ifNegative(a, b)), ifNegative(b, a));
}

export const mulHigh64 = (sign: Sign): Emission => ({
  scalar: (a, b) => high(scalars, sign, a!, b!),
  half: (a, b) => high(vectors, sign, a!, b!),
});
