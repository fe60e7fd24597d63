import type { Lanes, Wasm } from "../../wasm/index.ts";
import type { Expansion } from "../expansion.ts";
import { madd } from "./fma-wasm.ts";
import { directed, productError, type Rounding, remainder, sumError, toOdd, withSignOf } from "./rounding-wasm.ts";

/**
 * The arithmetic of `numeric/binary64.ts` for operands whose error terms are exact; for others `eval` is called.
 * Rounding down is computed as the mirror image of rounding up, including the signs of zeros.
 */

type Directed = Exclude<Rounding, "rn">;

const within = (d: Lanes, x: Wasm, min: number, max: number): Wasm =>
  d.both(d.gt(d.abs(x), d.number(min)), d.lt(d.abs(x), d.number(max)));
const isZero = (d: Lanes, x: Wasm): Wasm => d.eq(x, d.number(0));

const MIN_PRODUCT = 2 ** -900;
const MAX_MAGNITUDE = 2 ** 990;
const MIN_QUOTIENT = 2 ** -450;
const MAX_QUOTIENT = 2 ** 450;

const inQuotientRange = (d: Lanes, x: Wasm): Wasm => within(d, x, MIN_QUOTIENT, MAX_QUOTIENT);

function productApplies(d: Lanes, a: Wasm, b: Wasm): Wasm {
  const factors = d.both(d.lt(d.abs(a), d.number(MAX_MAGNITUDE)), d.lt(d.abs(b), d.number(MAX_MAGNITUDE)));
  const inRange = d.both(within(d, d.mul(a, b), MIN_PRODUCT, MAX_MAGNITUDE), factors);
  return d.either(inRange, d.either(isZero(d, a), isZero(d, b)));
}

/** Rounds down by way of rounding up. Negating the operands that `mirror` marks negates the result. */
const mirrored = (
  mode: Rounding,
  d: Lanes,
  operands: readonly Wasm[],
  mirror: readonly boolean[],
  compute: (mode: Exclude<Rounding, "rm">, ...operands: Wasm[]) => Wasm,
): Wasm =>
  mode === "rm"
    ? d.neg(compute("rp", ...operands.map((x, i) => (mirror[i] ? d.neg(x) : x))))
    : compute(mode, ...operands);

export const add = (mode: Directed): Expansion => ({
  applies: ({ doubles: d }, a, b) => d.all(d.lt(d.abs(d.add(a, b)), d.number(MAX_MAGNITUDE))),
  expand: ({ doubles: d }, ...operands) =>
    mirrored(mode, d, operands, [true, true], (mode, a, b) => {
      const s = d.add(a, b);
      return directed(d, s, sumError(d, a, b, s), mode);
    }),
});

export const sub = (mode: Directed): Expansion => {
  const { applies, expand } = add(mode);
  return {
    applies: (form, a, b) => applies!(form, a, form.doubles.neg(b)),
    expand: (form, a, b) => expand(form, a, form.doubles.neg(b)),
  };
};

export const mul = (mode: Directed): Expansion => ({
  applies: ({ doubles: d }, a, b) => d.all(productApplies(d, a, b)),
  expand: ({ doubles: d }, ...operands) =>
    mirrored(mode, d, operands, [true, false], (mode, a, b) => {
      const p = d.mul(a, b);
      return directed(d, p, productError(d, a, b, p), mode);
    }),
});

export const div = (mode: Directed): Expansion => ({
  applies: ({ doubles: d }, a, b) =>
    d.all(d.both(d.either(isZero(d, a), inQuotientRange(d, a)), inQuotientRange(d, b))),
  expand: ({ doubles: d }, ...operands) =>
    mirrored(mode, d, operands, [true, false], (mode, a, b) => {
      const q = d.div(a, b);
      return directed(d, q, withSignOf(d, remainder(d, a, q, b), b), mode);
    }),
});

/** A root is never negative, so rounding down is rounding towards zero. */
export const sqrt = (mode: Directed): Expansion => ({
  applies: ({ doubles: d }, a) => d.all(d.either(isZero(d, a), inQuotientRange(d, a))),
  expand: ({ doubles: d }, a) => {
    const q = d.sqrt(a);
    return directed(d, q, remainder(d, a, q, q), mode === "rp" ? "rp" : "rz");
  },
});

export const fma = (mode: Rounding): Expansion => ({
  applies: ({ doubles: d }, a, b, c) => d.all(d.both(productApplies(d, a, b), d.lt(d.abs(c), d.number(MAX_MAGNITUDE)))),
  expand: ({ doubles: d }, ...operands) =>
    mirrored(mode, d, operands, [true, false, true], (mode, a, b, c) => {
      const p = d.mul(a, b);
      const e = productError(d, a, b, p);
      const high = d.add(c, e);
      const low = sumError(d, c, e, high);
      const sum = d.add(p, high);
      const sumLow = sumError(d, p, high, sum);
      const lost = d.add(sumLow, low);
      const tail = toOdd(d, lost, sumError(d, sumLow, low, lost));
      const z = d.add(sum, tail);
      // A zero product is exact, and its sign matters for the sum of zeros.
      const zero = d.either(isZero(d, a), isZero(d, b));
      return d.select(zero, d.add(p, c), directed(d, z, sumError(d, sum, tail, z), mode));
    }),
  ...(mode === "rn" && { native: madd("f64x2") }),
});
