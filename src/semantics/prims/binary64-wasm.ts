import type { Lanes, Wasm } from "../../wasm/index.ts";
import type { Expansion } from "../expansion.ts";
import { madd } from "./fma-wasm.ts";
import { directed, productError, type Rounding, remainder, sumError, toOdd, withSignOf } from "./rounding-wasm.ts";

/**
 * The arithmetic of `numeric/binary64.ts` where its error terms are exact; elsewhere `eval` is called. Downwards is the mirror
 * image of upwards, also in the signs of zeros.
 */

type Directed = Exclude<Rounding, "rn">;

const within = (d: Lanes, x: Wasm, least: number, most: number): Wasm =>
  d.both(d.gt(d.abs(x), d.number(least)), d.lt(d.abs(x), d.number(most)));
const isZero = (d: Lanes, x: Wasm): Wasm => d.eq(x, d.number(0));

const LEAST_PRODUCT = 2 ** -900;
const MOST = 2 ** 990;
const LEAST_QUOTIENT = 2 ** -450;
const MOST_QUOTIENT = 2 ** 450;

const inQuotientRange = (d: Lanes, x: Wasm): Wasm => within(d, x, LEAST_QUOTIENT, MOST_QUOTIENT);

function productApplies(d: Lanes, a: Wasm, b: Wasm): Wasm {
  const factors = d.both(d.lt(d.abs(a), d.number(MOST)), d.lt(d.abs(b), d.number(MOST)));
  const inRange = d.both(within(d, d.mul(a, b), LEAST_PRODUCT, MOST), factors);
  return d.either(inRange, d.either(isZero(d, a), isZero(d, b)));
}

/** `mirror` negates the operands so that the result is negated. */
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
  applies: ({ doubles: d }, a, b) => d.all(d.lt(d.abs(d.add(a, b)), d.number(MOST))),
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

/** A root is not negative: downwards is towards zero. */
export const sqrt = (mode: Directed): Expansion => ({
  applies: ({ doubles: d }, a) => d.all(d.either(isZero(d, a), inQuotientRange(d, a))),
  expand: ({ doubles: d }, a) => {
    const q = d.sqrt(a);
    return directed(d, q, remainder(d, a, q, q), mode === "rp" ? "rp" : "rz");
  },
});

export const fma = (mode: Rounding): Expansion => ({
  applies: ({ doubles: d }, a, b, c) => d.all(d.both(productApplies(d, a, b), d.lt(d.abs(c), d.number(MOST)))),
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
      // A product that is zero is exact, and its sign matters to a sum of zeros.
      const zero = d.either(isZero(d, a), isZero(d, b));
      return d.select(zero, d.add(p, c), directed(d, z, sumError(d, sum, tail, z), mode));
    }),
  ...(mode === "rn" && { native: madd("f64x2") }),
});
