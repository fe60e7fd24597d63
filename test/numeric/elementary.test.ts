import { expect, test } from "vitest";
import { cosine, exp2, log2, sine, tanh } from "../../src/numeric/elementary.ts";
import { random } from "./operands.ts";

/**
 * The model is the host's own functions, which are accurate to a unit or two in the last place of binary64. The bounds
 * leave room for their errors and are far stricter than the manual's.
 */
const next = random(97);
const signed = (limit: number) => Math.fround((next() * 2 - 1) * limit);
/** A number from 2^-149 to 2^128, each power of two equally likely. */
const positive = () => Math.fround((1 + next()) * 2 ** Math.floor(next() * 277 - 149));

const relative = (got: number, want: number) => (got === want ? 0 : Math.abs(got - want) / Math.abs(want));
const worst = (count: number, operand: () => number, error: (x: number) => number) => {
  let max = 0;
  for (let i = 0; i < count; i++) max = Math.max(max, error(operand()));
  return max;
};

test.each([
  ["within a turn", () => signed(2 * Math.PI)],
  ["within a hundred turns", () => signed(100 * Math.PI)],
  ["up to 2^20", () => signed(2 ** 20)],
  ["up to 2^30", () => signed(2 ** 30)],
  ["of any size", () => (next() < 0.5 ? -1 : 1) * positive()],
])("sine and cosine %s", (_, operand) => {
  expect(worst(5000, operand, (x) => relative(sine(x), Math.sin(x)))).toBeLessThan(2 ** -50);
  expect(worst(5000, operand, (x) => relative(cosine(x), Math.cos(x)))).toBeLessThan(2 ** -50);
});

test("2^x over the range of binary32", () => {
  expect(
    worst(
      20_000,
      () => signed(150),
      (x) => relative(exp2(x), 2 ** x),
    ),
  ).toBeLessThan(2 ** -50);
  expect([exp2(1e30), exp2(-1e30)]).toEqual([Infinity, 0]);
});

test("the base-2 logarithm, even where it is small", () => {
  expect(worst(20_000, positive, (x) => relative(log2(x), Math.log2(x)))).toBeLessThan(2 ** -49);
  const nearOne = () => Math.fround(1 + signed(2 ** -Math.floor(next() * 23)) / 2);
  expect(worst(20_000, nearOne, (x) => relative(log2(x), Math.log1p(x - 1) / Math.LN2))).toBeLessThan(2 ** -49);
});

test("the hyperbolic tangent", () => {
  expect(
    worst(
      20_000,
      () => signed(12),
      (x) => relative(tanh(x), Math.tanh(x)),
    ),
  ).toBeLessThan(2 ** -49);
  expect(worst(20_000, positive, (x) => relative(tanh(x), Math.tanh(x)))).toBeLessThan(2 ** -49);
});
