import { expect, test } from "vitest";
import { sumOfProducts, tensorExponent, type TensorLine, tensorSum } from "../../src/numeric/tensor.ts";

const line = (values: readonly number[]): TensorLine => ({
  values: Float64Array.from(values),
  exponents: Int32Array.from(values, (value) => tensorExponent("f16", value)),
  at: 0,
});

/** The accumulator after products of powers of two, given as signs and exponents, in one instruction with k = 16. */
function sum(sm: number, start: number, products: readonly number[]): number {
  // f16 holds 2^-15 and 2^-15, or half the exponent on each side.
  const halves = products.map((product) => {
    const exponent = Math.log2(Math.abs(product));
    const low = Math.floor(exponent / 2);
    return [Math.sign(product) * 2 ** low, 2 ** (exponent - low)] as const;
  });
  const zeros = Array<number>(16 - products.length).fill(0);
  const a = line([...halves.map(([x]) => x), ...zeros]);
  const b = line([...halves.map(([, y]) => y), ...zeros]);
  return sumOfProducts(a, b, 16, start, tensorSum(sm, "f16", 16, false));
}

const e24 = 2 ** -24;
const up = 1 + 2 ** -23;
const times = (count: number, value: number): number[] => Array<number>(count).fill(value);

/*
 * What the sources in src/numeric/tensor.ts give for Volta, Ampere and Hopper: terms are aligned to the largest one and
 * cut to 23, 24 and 25 bits of fraction. Of the terms, those of one step come first.
 */
test.each([
  ["two products of 2^-24", 1, [e24, e24], [1, up, up]],
  ["four products of 2^-25", 1, times(4, e24 / 2), [1, 1, up]],
  ["eight products of 2^-26", 1, times(8, e24 / 4), [1, 1, 1]],
  ["2^-24 and 2^-30", 1, [e24, e24 / 64], [1, 1, 1]],
  ["the same below zero", -1, [-e24, -e24 / 64], [-1, -1, -1]],
] as const)("%s", (_, start, products, expected) => {
  expect([70, 80, 90].map((sm) => sum(sm, start, products))).toEqual(expected);
});

test("8-bit floats have 13 bits of fraction on sm_89, 25 from sm_90 on", () => {
  const terms = line([1, 1, ...Array<number>(30).fill(0)]);
  const other = line([1, 2 ** -14, ...Array<number>(30).fill(0)]);
  const sums = [89, 90, 120].map((sm) => sumOfProducts(terms, other, 32, 0, tensorSum(sm, "e4m3", 32, false)));
  expect(sums).toEqual([1, 1 + 2 ** -14, 1 + 2 ** -14]);
});

test("infinities, NaN and results beyond the range", () => {
  const of = (a: number, b: number, start: number, half = false): number =>
    sumOfProducts(line([a]), line([b]), 1, start, tensorSum(90, "f16", 1, half));
  expect([of(Infinity, 0, 1), of(Infinity, 1, -Infinity), of(Infinity, -1, 5)]).toEqual([NaN, NaN, -Infinity]);
  expect([of(60000, 2, 0, true), of(60000, 2, 0)]).toEqual([Infinity, 120000]);
});
