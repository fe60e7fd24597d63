import { type Wasm, wasm } from "../../wasm/index.ts";
import { type Expansion, laneByLane } from "../expansion.ts";
import type { Emission } from "../prim.ts";
import { mulHigh64 } from "./product-wasm.ts";

const op = wasm.op;
const less = (a: Wasm, b: Wasm): Wasm => op("i64.extend_i32_u", op("i64.lt_u", a, b));
const signOf = (a: Wasm): Wasm => op("i64.shr_s", a, wasm.i64(63n));

/** The sum and the shifted value have 128 bits; the low word combines bits of both halves. */
function mulAddShr(a: Wasm, b: Wasm, c: Wasm, n: Wasm): Wasm {
  const product = op("i64.mul", a, b);
  const low = op("i64.add", product, c);
  const high = op("i64.add", op("i64.add", mulHigh64("s").scalar(a, b), signOf(c)), less(low, product));
  const count = op("i64.extend_i32_u", op("i32.and", n, wasm.i32(63)));
  // A shift by 64 - count, which may be 64, is done as one by 1 and one by 63 - count.
  const fromHigh = op("i64.shl", op("i64.shl", high, wasm.i64(1n)), op("i64.sub", wasm.i64(63n), count));
  const shifted = op("i64.or", op("i64.shr_u", low, count), fromHigh);
  const above = op("i64.shr_s", high, count);
  const bound = op("i64.xor", signOf(high), wasm.i64(2n ** 63n - 1n));
  return wasm.select(op("i64.eq", above, signOf(shifted)), shifted, bound);
}

/** Lane by lane: counts differ between lanes, and WebAssembly shifts a whole vector by one count. */
const params = ["i64", "i64", "i64", "i32"] as const;
const scalar = (...[a, b, c, n]: Wasm[]): Wasm => mulAddShr(a!, b!, c!, n!);
const inForm: Emission = { scalar, ...laneByLane(params, "i64", scalar) };

export const mulAddShrSat: Expansion = { expand: (form, ...operands) => inForm[form.name]!(...operands) };
