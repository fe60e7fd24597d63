import { type Wasm, wasm } from "../../wasm/index.ts";
import type { Emission } from "../prim.ts";
import { constants32 } from "../uniform.ts";

type Sign = "s" | "u";

/** Divides without trapping: a division by 0 gives all ones, and one by -1 the negated dividend. */
function divideScalars(ty: "i32" | "i64", sign: Sign, a: Wasm, b: Wasm): Wasm {
  const int = (value: number): Wasm => (ty === "i32" ? wasm.i32(value) : wasm.i64(BigInt(value)));
  const quotient = wasm.op(`${ty}.div_${sign}`, a, b);
  const nonzero = wasm.op(`${ty}.ne`, b, int(0));
  if (sign === "u") return wasm.if(nonzero, quotient, int(-1));
  const usual = wasm.op(`${ty}.gt_u`, wasm.op(`${ty}.add`, b, int(1)), int(1));
  return wasm.if(usual, quotient, wasm.select(nonzero, wasm.op(`${ty}.sub`, int(0), a), int(-1)));
}

/** Only a divisor of 0 would trap: WebAssembly defines the remainder of the smallest integer by -1 as 0. */
function remainderOfScalars(ty: "i32" | "i64", sign: Sign, a: Wasm, b: Wasm): Wasm {
  const nonzero = wasm.op(`${ty}.ne`, b, ty === "i32" ? wasm.i32(0) : wasm.i64(0n));
  const all = ty === "i32" ? wasm.i32(-1) : wasm.i64(-1n);
  return wasm.if(nonzero, wasm.op(`${ty}.rem_${sign}`, a, b), all);
}

/** Replaces the lanes whose divisor is 0 by all ones. */
function orZeroDivisor(value: Wasm, b: Wasm): Wasm {
  if (constants32(b)?.every((word) => word !== 0)) return value;
  return wasm.op("v128.or", value, wasm.op("i32x4.eq", b, wasm.i32x4(0)));
}

/** Adding this to an integer of up to 33 bits leaves the integer's low 32 bits in the low half of the double. */
const INTEGER_BITS = wasm.f64x2(2 ** 52 + 2 ** 51);

/**
 * Quotients in binary64, truncated to integers. They are exact: a quotient that is not an integer differs from the next
 * one by at least 1 / b, which is more than 2^-33 of it, so rounding to 53 bits cannot reach it. Quotients by 0 are
 * arbitrary.
 */
function quotients(sign: Sign, a: Wasm, b: Wasm): Wasm {
  const [low, high] = [0, 2].map((lane) => {
    const wide = (v: Wasm): Wasm =>
      wasm.op(`f64x2.convert_low_i32x4_${sign}`, lane === 0 ? v : wasm.shuffle32(v, v, [2, 3, 2, 3]));
    const whole = wasm.op("f64x2.trunc", wasm.op("f64x2.div", wide(a), wide(b)));
    return wasm.op("f64x2.add", whole, INTEGER_BITS);
  });
  return wasm.shuffle32(low!, high!, [0, 2, 4, 6]);
}

export const division32 = (sign: Sign): Emission => ({
  scalar: (a, b) => divideScalars("i32", sign, a!, b!),
  quad: (a, b) => orZeroDivisor(quotients(sign, a!, b!), b!),
});

export const remainder32 = (sign: Sign): Emission => ({
  scalar: (a, b) => remainderOfScalars("i32", sign, a!, b!),
  quad: (a, b) => {
    const product = wasm.op("i32x4.mul", quotients(sign, a!, b!), b!);
    return orZeroDivisor(wasm.op("i32x4.sub", a!, product), b!);
  },
});

/** Binary64 is too short for 64-bit operands: vectors are divided lane by lane. */
export const division64 = (sign: Sign): Emission => ({ scalar: (a, b) => divideScalars("i64", sign, a!, b!) });
export const remainder64 = (sign: Sign): Emission => ({ scalar: (a, b) => remainderOfScalars("i64", sign, a!, b!) });
