import { describe, expect, test } from "vitest";
import { fromPattern32, fromPattern64, pattern32, pattern64 } from "../../src/numeric/float-pattern.ts";
import { bf16ToNumber, f16ToNumber, numberToBf16, numberToF16 } from "../../src/numeric/half.ts";
import { type PrimName, primOf } from "../../src/semantics/index.ts";
import { floatControlPrims } from "../../src/semantics/prims/float-control.ts";
import * as model from "../numeric/model.ts";
import { Operands } from "../numeric/operands.ts";

interface Case {
  readonly format: model.Format;
  readonly type: "f32" | "f64";
  readonly suffix: string;
  /** The bit of %cr0 that keeps subnormal numbers. */
  readonly keeps: number;
  readonly decode: (pattern: bigint) => number;
  readonly encode: (value: number) => bigint;
}

const cases: Readonly<Record<string, Case>> = {
  f: {
    format: model.binary32,
    type: "f32",
    suffix: "",
    keeps: 0x80,
    decode: (p) => fromPattern32(Number(BigInt.asIntN(32, p))),
    encode: (x) => BigInt(pattern32(x) >>> 0),
  },
  hf: {
    format: model.binary16,
    type: "f32",
    suffix: "_f16",
    keeps: 0x400,
    decode: (p) => f16ToNumber(Number(p)),
    encode: (x) => BigInt(numberToF16(x)),
  },
  bf: {
    format: model.bfloat16,
    type: "f32",
    suffix: "_bf16",
    keeps: 0x80,
    decode: (p) => bf16ToNumber(Number(p)),
    encode: (x) => BigInt(numberToBf16(x)),
  },
  df: {
    format: model.binary64,
    type: "f64",
    suffix: "",
    keeps: 0x40,
    decode: (p) => fromPattern64(BigInt.asIntN(64, p)),
    encode: (x) => BigInt.asUintN(64, pattern64(x)),
  },
};

/** Bits 4 and 5 of %cr0. */
const modes = ["rn", "rp", "rm", "rz"] as const;
const controls = modes.flatMap((mode, i) =>
  [0, 0x4c0].flatMap((kept) => [0, 1].map((alternative) => ({ mode, control: (i << 4) | kept | alternative }))),
);

class Model {
  readonly #case: Case;
  readonly #mode: model.Mode;
  readonly #control: number;
  constructor(c: Case, mode: model.Mode, control: number) {
    this.#case = c;
    this.#mode = mode;
    this.#control = control;
  }
  negative(pattern: bigint): boolean {
    const { exponentBits, fractionBits } = this.#case.format;
    return pattern >> BigInt(exponentBits + fractionBits) === 1n;
  }
  #infinity(): bigint {
    const { exponentBits, fractionBits } = this.#case.format;
    return ((1n << BigInt(exponentBits)) - 1n) << BigInt(fractionBits);
  }
  /** Flushes a subnormal number to zero unless it is kept. */
  flushed(pattern: bigint): bigint {
    const exponent = pattern & this.#infinity();
    const { exponentBits, fractionBits } = this.#case.format;
    const sign = pattern & (1n << BigInt(exponentBits + fractionBits));
    return exponent === 0n && (this.#control & this.#case.keeps) === 0 ? sign : pattern;
  }
  value(pattern: bigint): model.Rational {
    return model.valueOfPattern(this.flushed(pattern), this.#case.format);
  }
  /** The pattern of an exact result. `zero` is the sign of an exact zero. */
  result(exact: model.Rational, zero: boolean): bigint {
    const rounded = this.flushed(model.patternOf(exact, this.#case.format, this.#mode, zero));
    const infinity = this.#infinity();
    const magnitude = rounded & ~(1n << BigInt(this.#case.format.exponentBits + this.#case.format.fractionBits));
    const noInfinity = (this.#control & 1) !== 0 && this.#case.format === model.binary32;
    return noInfinity && magnitude === infinity ? rounded - 1n : rounded;
  }
  zeroSign(a: boolean, b: boolean): boolean {
    return model.zeroSign(a, b, this.#mode);
  }
}

const evaluate = (name: string, ...args: readonly (number | bigint)[]): number | bigint =>
  (primOf(name as PrimName).eval as (...a: (number | bigint)[]) => number | bigint)(...args);

const tested = new Set<string>();

describe.each(Object.keys(cases))("arithmetic of %s", (name) => {
  const c = cases[name]!;
  test.each(controls)("is the rounded exact result, $mode, %cr0 = $control", ({ mode, control }) => {
    const m = new Model(c, mode, control);
    const operands = new Operands(c.format, 4711 + control);
    const check = (op: string, patterns: readonly bigint[], exact: model.Rational, zero: boolean): void => {
      const full = `${c.type}.${op}_mode${c.suffix}`;
      tested.add(full);
      const got = c.encode(Number(evaluate(full, control, ...patterns.map(c.decode))));
      const want = m.result(exact, zero);
      if (got !== want) {
        const hex = [...patterns, got, want].map((p) => `0x${p.toString(16)}`);
        expect.fail(`${full} ${hex.slice(0, -2).join(" ")}: ${hex.at(-2)}, not ${hex.at(-1)}`);
      }
    };
    for (let i = 0; i < 1500; i++) {
      const [a, b, d] = operands.triple();
      const [x, y, z] = [m.value(a), m.value(b), m.value(d)];
      const product = m.negative(a) !== m.negative(b);
      check("add", [a, d], model.sum(x, z), m.zeroSign(m.negative(a), m.negative(d)));
      check("mul", [a, b], model.product(x, y), product);
      check("fma", [a, b, d], model.fused(x, y, z), m.zeroSign(product, m.negative(d)));
      if (y.n !== 0n) check("div", [a, b], model.quotient(x, y), product);
      const sign = 1n << BigInt(c.format.exponentBits + c.format.fractionBits);
      const magnitude = a & ~sign;
      check("sqrt", [magnitude], model.root(m.value(magnitude)), false);
      const [kept] = [c.encode(Number(evaluate(`${c.type}.operand_mode${c.suffix}`, control, c.decode(a))))];
      tested.add(`${c.type}.operand_mode${c.suffix}`);
      if (kept !== m.flushed(a)) expect.fail(`operand 0x${a.toString(16)}: 0x${kept.toString(16)}`);
    }
  });
});

describe("conversions", () => {
  const narrower = {
    "f32.from_f64_mode": { to: cases["f"]!, encode: (x: number | bigint) => cases["f"]!.encode(Number(x)) },
    "i32.f16_from_f64_mode": { to: cases["hf"]!, encode: (x: number | bigint) => BigInt(x) },
    "i32.bf16_from_f64_mode": { to: cases["bf"]!, encode: (x: number | bigint) => BigInt(x) },
  } as const;
  test.each(Object.keys(narrower) as (keyof typeof narrower)[])("%s rounds a double once", (name) => {
    const { to, encode } = narrower[name];
    tested.add(name);
    for (const { mode, control } of controls) {
      const m = new Model(to, mode, control);
      // Doubles with exponents in the range of the narrow format, or close to it.
      const operands = new Operands({ exponentBits: to.format.exponentBits, fractionBits: 52 }, 99 + control);
      const bias = 2 ** (to.format.exponentBits - 1) - 1;
      for (let i = 0; i < 1000; i++) {
        const pattern = operands.any();
        const exact = model.valueOfPattern(pattern, { exponentBits: to.format.exponentBits, fractionBits: 52 });
        if (exact.n === 0n || bias > 1023) continue;
        const bits = model.patternOf(exact, model.binary64, "rn", false);
        const value = cases["df"]!.decode(bits);
        const got = encode(evaluate(name, control, value));
        const want = m.result(model.valueOfPattern(bits, model.binary64), false);
        if (got !== want) expect.fail(`${name} ${value}, ${mode}: 0x${got.toString(16)}, not 0x${want.toString(16)}`);
      }
    }
  });

  test.each(["s", "u"] as const)("f64.from_i64_%s_mode rounds an integer", (sign) => {
    const name = `f64.from_i64_${sign}_mode`;
    tested.add(name);
    const integers = [1n, 3n, 2n ** 53n + 1n, 2n ** 54n + 6n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 53n) - 1n, -1n];
    for (const { mode, control } of controls) {
      for (const integer of integers) {
        const exact = sign === "u" ? BigInt.asUintN(64, integer) : integer;
        const want = model.patternOf({ n: exact, d: 1n }, model.binary64, mode, false);
        const got = cases["df"]!.encode(Number(evaluate(name, control, integer)));
        expect(got, `${exact} ${mode}`).toBe(want);
      }
    }
  });

  test("results and radicands: only the alternative mode changes normal numbers (2_datatypes.md)", () => {
    for (const name of ["f32.result_mode", "f32.radicand_mode"]) tested.add(name);
    expect(evaluate("f32.result_mode", 0x4c0, Infinity)).toBe(Infinity);
    expect(evaluate("f32.result_mode", 0x4c1, -Infinity)).toBe(-3.4028234663852886e38);
    expect(evaluate("f32.result_mode", 0, 1e-40)).toBe(0);
    expect(evaluate("f32.radicand_mode", 0x4c0, -4)).toBe(-4);
    expect(evaluate("f32.radicand_mode", 0x4c1, -4)).toBe(4);
  });
});

test("every primitive with modes is compared", () => {
  expect(Object.keys(floatControlPrims).filter((name) => !tested.has(name))).toEqual([]);
});
