import { expect, test } from "vitest";
import { primOf } from "../../src/semantics/index.ts";
import * as model from "./model.ts";
import { Operands } from "./operands.ts";

const formats = [
  ["f16", model.binary16],
  ["bf16", model.bfloat16],
] as const;

test.each(formats)("%s add, sub, mul and fma are rounded once", (name, format) => {
  const operands = new Operands(format, 1985);
  const negative = (p: bigint) => p >= 0x8000n;
  const run = (op: "add" | "sub" | "mul" | "fma", ...patterns: readonly bigint[]) =>
    (primOf(`${name}.${op}`).eval as (...a: number[]) => number)(...patterns.map(Number));
  const check = (
    op: "add" | "sub" | "mul" | "fma",
    patterns: readonly bigint[],
    exact: model.Rational,
    zero: boolean,
  ) => {
    const want = Number(model.patternOf(exact, format, "rn", zero));
    const got = run(op, ...patterns);
    const hex = (p: bigint | number) => `0x${p.toString(16)}`;
    if (got !== want) expect.fail(`${name}.${op} ${patterns.map(hex)}: ${hex(got)}, not ${hex(want)}`);
  };
  for (let i = 0; i < 20_000; i++) {
    const [a, b, c] = operands.triple();
    const [x, y, z] = [a, b, c].map((p) => model.valueOfPattern(p, format)) as [
      model.Rational,
      model.Rational,
      model.Rational,
    ];
    const product = negative(a) !== negative(b);
    check("add", [a, c], model.sum(x, z), model.zeroSign(negative(a), negative(c), "rn"));
    check("sub", [a, c], model.sum(x, { n: -z.n, d: z.d }), model.zeroSign(negative(a), !negative(c), "rn"));
    check("mul", [a, b], model.product(x, y), product);
    check("fma", [a, b, c], model.fused(x, y, z), model.zeroSign(product, negative(c), "rn"));
  }
});

test.each(formats)("%s: operands and results that are not finite", (name, format) => {
  const infinity = (2 ** format.exponentBits - 1) * 2 ** format.fractionBits;
  const one = (2 ** (format.exponentBits - 1) - 1) * 2 ** format.fractionBits;
  const run = (op: "add" | "sub" | "mul" | "fma", ...patterns: readonly number[]) =>
    (primOf(`${name}.${op}`).eval as (...a: number[]) => number)(...patterns);
  expect(run("add", infinity, infinity | 0x8000)).toBe(0x7fff);
  expect(run("sub", infinity, one)).toBe(infinity);
  expect(run("mul", 0, infinity | 0x8000)).toBe(0x7fff);
  expect(run("fma", infinity - 1, infinity - 1, infinity | 0x8000)).toBe(infinity | 0x8000);
  expect(run("fma", one, infinity + 1, one)).toBe(0x7fff);
});
