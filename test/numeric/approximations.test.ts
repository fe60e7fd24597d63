import { expect, test } from "vitest";
import { instructionSet } from "../../src/ptx/isa/index.ts";
import { type Expr, fold, kit } from "../../src/semantics/index.ts";
import { random } from "./operands.ts";

/**
 * Checks that the approximate instructions keep the error bounds that the manual gives for each. The exact value is
 * computed by the host in binary64, about 2^25 times finer than the bounds.
 */

/** Evaluates the instruction for constant operands. */
function value(opcode: string, operands: readonly Expr[]): number {
  const candidate = instructionSet.resolve(opcode).candidates.find((c) => c.form.sem !== null);
  const sources = candidate!.operands.filter((o) => !o.destination).map((o, i) => [o.name, operands[i]!]);
  const access = {
    vector: () => [],
    has: () => true,
    constant: () => null,
    type: () => null,
    width: () => 32,
    count: () => 1,
    carry: kit.pred(false),
  };
  const result = candidate!.form.sem!(kit, Object.fromEntries(sources), candidate!.mods, access as never) as Expr;
  return fold(result, () => expect.fail("no leaves")) as number;
}

const next = random(1234);
const uniform = (low: number, high: number) => Math.fround(low + next() * (high - low));
const scaled = (low: number, high: number) =>
  Math.fround((1 + next()) * 2 ** (low + Math.floor(next() * (high - low))));
const signed = (x: number) => (next() < 0.5 ? -x : x);

const absolute = (got: number, want: number) => Math.abs(got - want);
const relative = (got: number, want: number) => Math.abs(got - want) / Math.abs(want);
/** The error in units of the last place of the binary32 number nearest to the exact value. */
const ulps = (got: number, want: number) => {
  const exponent = Math.max(-126, Math.floor(Math.log2(Math.abs(Math.fround(want)))));
  return Math.abs(got - want) / 2 ** (exponent - 23);
};

type Row = readonly [
  opcode: string,
  range: string,
  operands: () => readonly number[],
  exact: (...x: number[]) => number,
  error: (got: number, want: number) => number,
  bound: number,
];
const rows: readonly Row[] = [
  [
    "div.approx.f32",
    "|b| in [2^-126, 2^126]",
    () => [scaled(-1, 1), signed(scaled(-126, 126))],
    (a, b) => a / b,
    ulps,
    2,
  ],
  ["div.full.f32", "all", () => [scaled(-20, 20), signed(scaled(-100, 100))], (a, b) => a / b, ulps, 2],
  ["rcp.approx.f32", "all", () => [signed(scaled(-126, 127))], (a) => 1 / a, ulps, 1],
  ["sqrt.approx.f32", "all", () => [scaled(-149, 128)], Math.sqrt, relative, 2 ** -23],
  ["rsqrt.approx.f32", "all", () => [scaled(-149, 128)], (a) => 1 / Math.sqrt(a), relative, 2 ** -22.9],
  ["sin.approx.f32", "2 pi", () => [uniform(-2 * Math.PI, 2 * Math.PI)], Math.sin, absolute, 2 ** -20.5],
  ["sin.approx.f32", "100 pi", () => [uniform(-100 * Math.PI, 100 * Math.PI)], Math.sin, absolute, 2 ** -14.7],
  ["cos.approx.f32", "2 pi", () => [uniform(-2 * Math.PI, 2 * Math.PI)], Math.cos, absolute, 2 ** -20.5],
  ["cos.approx.f32", "100 pi", () => [uniform(-100 * Math.PI, 100 * Math.PI)], Math.cos, absolute, 2 ** -14.7],
  ["lg2.approx.f32", "(0.5, 2)", () => [uniform(0.5, 2)], Math.log2, absolute, 2 ** -22],
  ["lg2.approx.f32", "above 2", () => [scaled(1, 128)], Math.log2, relative, 2 ** -22],
  ["lg2.approx.f32", "below 0.5", () => [scaled(-149, -1)], Math.log2, relative, 2 ** -22],
  ["ex2.approx.f32", "all", () => [uniform(-150, 128)], (a) => 2 ** a, ulps, 2],
  ["tanh.approx.f32", "all", () => [signed(scaled(-149, 10))], Math.tanh, relative, 2 ** -11],
];

test.each(rows)("%s, %s", (opcode, _, operands, exact, error, bound) => {
  for (let i = 0; i < 4000; i++) {
    const x = operands();
    const got = value(opcode, x.map(kit.f32));
    if (!(error(got, exact(...x)) <= bound)) expect.fail(`${opcode} ${x}: ${got}, not ${exact(...x)}`);
  }
});

/** The value of a finite pattern, by the definition of the format. */
const decode = (p: number, fractionBits: number, bias: number) => {
  const field = (p & 0x7fff) >> fractionBits;
  const fraction = (p & (2 ** fractionBits - 1)) / 2 ** fractionBits;
  const magnitude = field === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (field - bias);
  return p & 0x8000 ? -magnitude : magnitude;
};

test.each([
  ["ex2.approx.f16", 10, 15, (x: number) => 2 ** x, relative, 2 ** -9.9],
  ["ex2.approx.ftz.bf16", 7, 127, (x: number) => 2 ** x, relative, 2 ** -7],
  ["tanh.approx.f16", 10, 15, Math.tanh, absolute, 2 ** -10.987],
  ["tanh.approx.bf16", 7, 127, Math.tanh, absolute, 2 ** -8],
] as const)("%s, every number", (opcode, fractionBits, bias, exact, error, bound) => {
  let compared = 0;
  for (let p = 0; p < 0x1_0000; p++) {
    const x = decode(p, fractionBits, bias);
    const want = exact(x);
    // A relative error means nothing for subnormal numbers; overflow is covered by the vectors.
    if ((p & 0x7fff) >> fractionBits === 2 * bias + 1 || (error === relative && want < 2 ** (1 - bias))) continue;
    if (want > (2 - 2 ** -fractionBits) * 2 ** bias) continue;
    const got = decode(value(opcode, [kit.i32(p)]), fractionBits, bias);
    compared++;
    if (!(error(got, want) <= bound)) expect.fail(`${opcode} 0x${p.toString(16)}: ${got}, not ${want}`);
  }
  expect(compared).toBeGreaterThan(0x8000);
});
