import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { Device, scalar } from "../../../src/index.ts";

/*
 * A kernel of many divisions, exponentials and logarithms, as IGC compiles it for three platforms, against its formula
 * in double precision.
 */
const count = 4096;
const [rate, volatility] = [Math.fround(0.02), Math.fround(0.3)];
const folder = new URL("../../../bench/visa/opencl/", import.meta.url);
const platforms = ["skl.16", "dg2.16", "pvc.32"] as const;

const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");

/** Numbers between two others, the same in each run. */
function noise(seed: number, from: number, to: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return from + ((to - from) * state) / 2 ** 32;
  });
}

const [prices, strikes, years] = [noise(1, 5, 30), noise(2, 1, 100), noise(3, 0.25, 10)];

function normal(d: number): number {
  const k = 1 / (1 + 0.2316419 * Math.abs(d));
  const sum = 0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)));
  const tail = 0.3989422804 * Math.exp(-0.5 * d * d) * k * sum;
  return d > 0 ? 1 - tail : tail;
}

/** The price of the right to buy, and that of the right to sell. */
function formula(s: number, x: number, t: number): readonly [number, number] {
  const spread = volatility * Math.sqrt(t);
  const d = (Math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / spread;
  const [n1, n2] = [normal(d), normal(d - spread)];
  const discounted = x * Math.exp(-rate * t);
  return [s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1)];
}

function run(variant: (typeof platforms)[number]): readonly number[] {
  const device = new Device();
  const source = { path: "k.visaasm", text: read(`blackscholes.${variant}.visaasm`) };
  const zeinfo: unknown = parse(read(`blackscholes.${variant}.yaml`));
  const module = device.load(source, { isa: "visa", target: variant.split(".")[0]!, zeinfo });
  const inputs = [prices, strikes, years].map((numbers) => device.buffer(numbers));
  const [call, put] = [device.buffer("f32", count), device.buffer("f32", count)];
  const args = [scalar("s32", count), scalar("f32", rate), scalar("f32", volatility), ...inputs, call, put];
  const result = module.kernel().launch({ global: count, local: 128, args });
  expect(result.reports).toEqual([]);
  return [...call.read(), ...put.read()];
}

const exact = Array.from({ length: count }, (_, i) => formula(prices[i]!, strikes[i]!, years[i]!));
const expected = [...exact.map(([call]) => call), ...exact.map(([, put]) => put)];

const greatestDistance = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);

// The product of the largest number here, 100, and the distance of floats at 1 is 1.2e-5.
test.each(platforms)("Black-Scholes on %s is as near to the formula as single precision is", (variant) => {
  expect(greatestDistance(run(variant), expected)).toBeLessThan(1.4e-5);
});

// IGC divides by `div` for Skylake, and by a product with `inv` for the others.
test("Black-Scholes gives the same bits where it is compiled to the same divisions", () => {
  const [skylake, dg2, pvc] = platforms.map(run) as [readonly number[], readonly number[], readonly number[]];
  expect(dg2).toEqual(pvc);
  expect(dg2).not.toEqual(skylake);
  expect(greatestDistance(dg2, skylake)).toBeLessThan(8e-6);
});
