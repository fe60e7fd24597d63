import { describe, expect, test } from "vitest";
import * as b32 from "../../src/numeric/binary32.ts";
import * as b64 from "../../src/numeric/binary64.ts";
import * as model from "./model.ts";
import { Operands } from "./operands.ts";

const view = new DataView(new ArrayBuffer(8));
const to32 = (p: bigint) => (view.setUint32(0, Number(p)), view.getFloat32(0));
const from32 = (x: number) => (view.setFloat32(0, x), BigInt(view.getUint32(0)));
const to64 = (p: bigint) => (view.setBigUint64(0, p), view.getFloat64(0));
const from64 = (x: number) => (view.setFloat64(0, x), view.getBigUint64(0));

const modes = ["rn", "rz", "rm", "rp"] as const;
type Unary = (a: number, mode: model.Mode) => number;
type Binary = (a: number, b: number, mode: model.Mode) => number;
type Ternary = (a: number, b: number, c: number, mode: model.Mode) => number;
interface Arithmetic {
  readonly add: Binary;
  readonly multiply: Binary;
  readonly divide: Binary;
  readonly sqrt: Unary;
  readonly fma: Ternary;
}

/** Rounds a result that was rounded to odd; rounding down is the mirror image of rounding up. */
const by = (mode: model.Mode, odd: () => number, mirror: () => number): number =>
  mode === "rn"
    ? Math.fround(odd())
    : mode === "rz"
      ? b32.towardZero32(odd())
      : mode === "rp"
        ? b32.upward32(odd())
        : -b32.upward32(mirror());
const arithmetic32: Arithmetic = {
  add: (a, b, mode) =>
    by(
      mode,
      () => b32.addToOdd(a, b),
      () => b32.addToOdd(-a, -b),
    ),
  multiply: (a, b, mode) =>
    by(
      mode,
      () => a * b,
      () => -a * b,
    ),
  divide: (a, b, mode) =>
    by(
      mode,
      () => b32.divideToOdd(a, b),
      () => b32.divideToOdd(-a, b),
    ),
  sqrt: (a, mode) =>
    by(
      mode === "rm" ? "rz" : mode,
      () => b32.sqrtToOdd(a),
      () => NaN,
    ),
  fma: (a, b, c, mode) =>
    mode === "rn"
      ? b32.fma32(a, b, c)
      : by(
          mode,
          () => b32.fmaToOdd(a, b, c),
          () => b32.fmaToOdd(-a, b, -c),
        ),
};
const arithmetic64: Arithmetic = {
  add: (a, b, mode) => (mode === "rn" ? a + b : b64.add64(a, b, mode)),
  multiply: (a, b, mode) => (mode === "rn" ? a * b : b64.mul64(a, b, mode)),
  divide: (a, b, mode) => (mode === "rn" ? a / b : b64.div64(a, b, mode)),
  sqrt: (a, mode) => (mode === "rn" ? Math.sqrt(a) : b64.sqrt64(a, mode)),
  fma: b64.fma64,
};

const formats = [
  { name: "binary32", format: model.binary32, to: to32, from: from32, ops: arithmetic32, count: 9000 },
  { name: "binary64", format: model.binary64, to: to64, from: from64, ops: arithmetic64, count: 4000 },
];

describe.each(formats)("$name", ({ format, to, from, ops, count }) => {
  const negative = (p: bigint) => p >> BigInt(format.exponentBits + format.fractionBits) === 1n;
  const value = (p: bigint) => model.valueOfPattern(p, format);
  const check = (what: string, operands: readonly bigint[], mode: model.Mode, got: number, want: bigint) => {
    const hex = (p: bigint) => `0x${p.toString(16)}`;
    if (from(got) !== want) {
      expect.fail(`${what} ${mode} ${operands.map(hex)}: ${hex(from(got))}, not ${hex(want)}`);
    }
  };

  test.each(modes)("%s", (mode) => {
    const operands = new Operands(format, 20_250_101 + modes.indexOf(mode));
    const pattern = (x: model.Rational, zero: boolean) => model.patternOf(x, format, mode, zero);
    for (let i = 0; i < count; i++) {
      const [a, b, c] = operands.triple();
      const [x, y, z] = [value(a), value(b), value(c)];
      const productSign = negative(a) !== negative(b);
      const sum = pattern(model.sum(x, z), model.zeroSign(negative(a), negative(c), mode));
      check("add", [a, c], mode, ops.add(to(a), to(c), mode), sum);
      check("multiply", [a, b], mode, ops.multiply(to(a), to(b), mode), pattern(model.product(x, y), productSign));
      const fused = pattern(model.fused(x, y, z), model.zeroSign(productSign, negative(c), mode));
      check("fma", [a, b, c], mode, ops.fma(to(a), to(b), to(c), mode), fused);
      if (y.n !== 0n)
        check("divide", [a, b], mode, ops.divide(to(a), to(b), mode), pattern(model.quotient(x, y), productSign));
      if (x.n > 0n) check("sqrt", [a], mode, ops.sqrt(to(a), mode), pattern(model.root(x), false));
    }
  });

  test("operands that are zero, infinite or NaN", () => {
    const special = [0, -0, Infinity, -Infinity, NaN, 1, -1];
    for (const mode of modes)
      for (const a of special)
        for (const b of special) {
          // If an operand is not finite, or a factor or the dividend is 0, nothing is rounded: the host follows IEEE
          // 754.
          expect(ops.multiply(a, b, mode)).toBe(a * b);
          expect(ops.divide(a, b, mode)).toBe(a / b);
          if (!Number.isFinite(a + b)) expect(ops.add(a, b, mode)).toBe(a + b);
          for (const c of special) if (!Number.isFinite(a * b + c)) expect(ops.fma(a, b, c, mode)).toBe(a * b + c);
        }
    for (const mode of modes) {
      expect(special.map((a) => ops.sqrt(a, mode))).toEqual([0, -0, Infinity, NaN, NaN, 1, NaN]);
      // A product beyond the largest finite number is still finite, so the addend decides.
      const big = to(from(format.fractionBits === 23 ? 2 ** 127 : 2 ** 1023));
      expect(ops.fma(big, big, -Infinity, mode)).toBe(-Infinity);
      expect(ops.fma(big, -big, Infinity, mode)).toBe(Infinity);
    }
  });
});
