import { COSINE, EXP2, HALF_PI, LOG2, MAX_QUARTERS, SINE, TWO_OVER_PI } from "../../numeric/elementary.ts";
import type { Lanes, Wasm } from "../../wasm/index.ts";
import type { Expansion } from "../expansion.ts";
import { byParts } from "../form.ts";

/**
 * WebAssembly code for `numeric/elementary.ts`: the same operations in the same order, so that the bits are the same.
 * Where the original branches, this code computes every alternative and selects one.
 */

/**
 * Evaluates a polynomial; the coefficients begin with that of x^0. Starting with the last one instead of adding it to a
 * product with 0 gives the same.
 */
function horner(d: Lanes, coefficients: readonly number[], x: Wasm): Wasm {
  const [last, ...others] = coefficients.toReversed().map(d.number);
  return others.reduce((sum, coefficient) => d.add(d.mul(sum, x), coefficient), last!);
}

/** Adding this to an integer of at most 51 bits leaves the integer in the low bits of the sum. */
const INTEGER = 1.5 * 2 ** 52;
const integerBits = (d: Lanes, x: Wasm): Wasm => d.bits(d.add(x, d.number(INTEGER)));
const nearestInteger = (d: Lanes, x: Wasm): Wasm => d.floor(d.add(x, d.number(0.5)));

const quartersOf = (d: Lanes, x: Wasm): Wasm => nearestInteger(d, d.mul(x, d.number(TWO_OVER_PI)));

/** sin(x + quarters * pi/2), for an x small enough for the precision of `HALF_PI`. */
function sineOf(d: Lanes, x: Wasm, quarters: bigint): Wasm {
  const n = quartersOf(d, x);
  const r = HALF_PI.reduce((rest, part) => d.sub(rest, d.mul(n, d.number(part))), x);
  const square = d.mul(r, r);
  const quadrant = d.plus(integerBits(d, n), d.integer(quarters));
  const odd = d.less(d.shl(quadrant, 63), d.integer(0n));
  const value = d.select(odd, horner(d, COSINE, square), d.mul(r, horner(d, SINE, square)));
  const negated = d.and(d.shl(quadrant, 62), d.integer(1n << 63n));
  return d.fromBits(d.xor(d.bits(value), negated));
}

function exp2(d: Lanes, x: Wasm): Wasm {
  const n = nearestInteger(d, x);
  const power = d.fromBits(d.shl(d.plus(integerBits(d, n), d.integer(1023n)), 52));
  const value = d.mul(horner(d, EXP2, d.sub(x, n)), power);
  const limited = d.select(d.lt(x, d.number(-200)), d.number(0), value);
  return d.select(d.gt(x, d.number(200)), d.number(Infinity), limited);
}

function log2(d: Lanes, x: Wasm): Wasm {
  const bits = d.bits(x);
  const one = d.bits(d.number(1));
  // The exponent field as the fraction of a number near 2^52, and the fraction with the exponent of 1.
  const field = d.fromBits(d.or(d.shrU(bits, 52), d.bits(d.number(2 ** 52))));
  const exponent = d.sub(field, d.number(2 ** 52 + 1023));
  const significand = d.fromBits(d.or(d.and(bits, d.integer((1n << 52n) - 1n)), one));
  const great = d.gt(significand, d.number(Math.SQRT2));
  const m = d.select(great, d.mul(significand, d.number(0.5)), significand);
  const e = d.select(great, d.add(exponent, d.number(1)), exponent);
  const s = d.div(d.sub(m, d.number(1)), d.add(m, d.number(1)));
  const value = d.add(e, d.mul(s, horner(d, LOG2, d.mul(s, s))));
  // Infinity and NaN stay; then come the operands that are not greater than 0.
  const positive = d.select(d.lt(x, d.number(Infinity)), value, x);
  const special = d.select(d.eq(x, d.number(0)), d.number(-Infinity), d.number(NaN));
  return d.select(d.gt(x, d.number(0)), positive, special);
}

function tanh(d: Lanes, x: Wasm): Wasm {
  const magnitude = d.abs(x);
  const one = d.number(1);
  const y = d.mul(x, x);
  const fraction = [9, 7, 5, 3, 1].reduce((below, k) => d.add(d.number(k), d.div(y, below)), d.number(11));
  const exponential = exp2(d, d.mul(d.number(2 * Math.LOG2E), magnitude));
  const large = d.sub(one, d.div(d.number(2), d.add(exponential, one)));
  const limited = d.select(d.gt(magnitude, d.number(20)), one, large);
  const signed = d.select(d.lt(x, d.number(0)), d.neg(limited), limited);
  return d.select(d.lt(magnitude, d.number(0.25)), d.div(x, fraction), signed);
}

function power(d: Lanes, a: Wasm, y: Wasm): Wasm {
  const x = d.abs(a);
  const one = d.number(1);
  const isOne = d.either(d.eq(x, one), d.eq(y, d.number(0)));
  return d.select(isOne, one, exp2(d, d.mul(y, log2(d, x))));
}

/** Applies a function of doubles to binary32 numbers, rounding the result once. */
const rounded = (f: (d: Lanes, ...operands: Wasm[]) => Wasm): Expansion => ({
  expand: (form, ...operands) =>
    form.narrowed(byParts(operands.map(form.widened), (...parts) => f(form.doubles, ...parts))),
});
const trigonometric = (quarters: bigint): Expansion => ({
  ...rounded((d, x) => sineOf(d, x, quarters)),
  applies: (form, x) => {
    const { doubles: d } = form;
    // Infinities and NaN need no exception: their result is NaN anyway.
    const far = form
      .widened(x)
      .map((part) =>
        d.both(d.gt(d.abs(quartersOf(d, part)), d.number(MAX_QUARTERS)), d.lt(d.abs(part), d.number(Infinity))),
      );
    return d.all(d.not(far.reduce(d.either)));
  },
});

export const emitSine = trigonometric(0n);
export const emitCosine = trigonometric(1n);
export const emitLog2 = rounded(log2);
export const emitExp2 = rounded(exp2);
export const emitTanh = rounded(tanh);
export const emitSigmoid = rounded((d, x) =>
  d.div(d.number(1), d.add(d.number(1), exp2(d, d.mul(d.number(-Math.LOG2E), x)))),
);
export const emitPower = rounded(power);
export const emitReciprocalRoot = rounded((d, x) => d.div(d.number(1), d.sqrt(x)));
