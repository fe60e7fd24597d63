import { expect, test } from "vitest";
import { type DataType, isFloat, isSigned, typeBytes } from "../../../src/visa/types.ts";
import * as model from "../../numeric/model.ts";
import { Random } from "../memory/machine.ts";
import { formats, isNan } from "./patterns.ts";
import { runVectors } from "./run-vectors.ts";
import type { Vector } from "./vectors.ts";

/**
 * Floating-point instructions and conversions against IEEE 754 in rational numbers (`test/numeric/model.ts`), in every
 * rounding mode and with subnormal numbers kept or flushed, as %cr0 says (2_datatypes.md): operands, source modifiers,
 * rounding, saturation and the destination's type together.
 */
type Real =
  | { readonly kind: "nan"; readonly negative: boolean }
  | { readonly kind: "infinite"; readonly negative: boolean }
  | { readonly kind: "finite"; readonly negative: boolean; readonly value: model.Rational };

const nan: Real = { kind: "nan", negative: false };
const infinite = (negative: boolean): Real => ({ kind: "infinite", negative });
/** `zero`: the sign of a zero. */
const finite = (value: model.Rational, zero: boolean): Real => ({
  kind: "finite",
  value,
  negative: value.n === 0n ? zero : value.n < 0n,
});
const isZero = (x: Real): boolean => x.kind === "finite" && x.value.n === 0n;
const integral = (n: bigint, zero = false): Real => finite({ n, d: 1n }, zero);

const modes = ["rn", "rp", "rm", "rz"] as const satisfies readonly model.Mode[];
const modeOf = (control: number): model.Mode => modes[(control >> 4) & 3]!;

/** Bits of %cr0 that keep subnormal numbers. */
const keeps: Readonly<Record<string, number>> = { df: 0x40, f: 0x80, bf: 0x80, hf: 0x400 };

const signOf = ({ exponentBits, fractionBits }: model.Format): bigint => 1n << BigInt(exponentBits + fractionBits);
const infinityOf = ({ exponentBits, fractionBits }: model.Format): bigint =>
  ((1n << BigInt(exponentBits)) - 1n) << BigInt(fractionBits);

/** A subnormal number is a zero unless %cr0 keeps it. */
function flushed(type: DataType, pattern: bigint, control: number): bigint {
  const format = formats[type]!;
  const subnormal = (pattern & infinityOf(format)) === 0n;
  return subnormal && (control & keeps[type]!) === 0 ? pattern & signOf(format) : pattern;
}

function decoded(type: DataType, pattern: bigint): Real {
  if (!isFloat(type)) return integral(pattern);
  const format = formats[type]!;
  const negative = (pattern & signOf(format)) !== 0n;
  const magnitude = pattern & ~signOf(format);
  if (magnitude > infinityOf(format)) return nan;
  if (magnitude === infinityOf(format)) return infinite(negative);
  return finite(model.valueOfPattern(pattern, format), negative);
}

const modifiers: Readonly<Record<string, (x: Real) => Real>> = {
  "": (x) => x,
  "(-)": (x) => negated(x),
  "(abs)": (x) => magnitude(x),
  "(-abs)": (x) => negated(magnitude(x)),
};
const negated = (x: Real): Real =>
  x.kind === "finite" ? finite({ n: -x.value.n, d: x.value.d }, !x.negative) : { ...x, negative: !x.negative };
const magnitude = (x: Real): Real => (x.negative ? negated(x) : x);

function sum(a: Real, b: Real, mode: model.Mode): Real {
  if (a.kind === "nan" || b.kind === "nan") return nan;
  if (a.kind !== "finite") return b.kind === "infinite" && a.negative !== b.negative ? nan : a;
  if (b.kind !== "finite") return b;
  return finite(model.sum(a.value, b.value), model.zeroSign(a.negative, b.negative, mode));
}

function product(a: Real, b: Real): Real {
  const negative = a.negative !== b.negative;
  if (a.kind === "nan" || b.kind === "nan") return nan;
  if (a.kind === "finite" && b.kind === "finite") return finite(model.product(a.value, b.value), negative);
  return isZero(a) || isZero(b) ? nan : infinite(negative);
}

function quotient(a: Real, b: Real): Real {
  const negative = a.negative !== b.negative;
  if (a.kind === "nan" || b.kind === "nan") return nan;
  if (a.kind !== "finite") return b.kind === "infinite" ? nan : infinite(negative);
  if (b.kind !== "finite") return integral(0n, negative);
  if (isZero(b)) return isZero(a) ? nan : infinite(negative);
  return finite(model.quotient(a.value, b.value), negative);
}

function root(a: Real): Real {
  if (isZero(a)) return a;
  if (a.kind === "nan" || a.negative) return nan;
  return a.kind === "infinite" ? a : finite(model.root(a.value), false);
}

/** The integer below a rational number. */
const below = ({ n, d }: model.Rational): bigint => (n >= 0n ? n / d : -((-n + d - 1n) / d));

const rounding = (nearby: (x: model.Rational) => bigint) => (a: Real) =>
  a.kind === "finite" ? integral(nearby(a.value), a.negative) : a;
const up = (x: model.Rational): bigint => -below({ n: -x.n, d: x.d });
function toEven(x: model.Rational): bigint {
  const floor = below(x);
  const twice = 2n * (x.n - floor * x.d);
  return twice > x.d || (twice === x.d && (floor & 1n) === 1n) ? floor + 1n : floor;
}

const compared = (a: Real, b: Real): bigint | null => {
  if (a.kind === "nan" || b.kind === "nan") return null;
  if (a.kind !== "finite" || b.kind !== "finite") {
    const rank = (x: Real) => (x.kind === "infinite" ? (x.negative ? -1n : 1n) : 0n);
    return rank(a) - rank(b);
  }
  return a.value.n * b.value.d - b.value.n * a.value.d;
};

const relation = (holds: (order: bigint | null) => boolean) => (a: Real, b: Real) =>
  integral(holds(compared(a, b)) ? 1n : 0n);
/** The greater number if `sign` is 1, the smaller one if it is -1. */
const extremum = (sign: bigint) => (a: Real, b: Real) => {
  if (a.kind === "nan") return b;
  return (compared(a, b) ?? sign) * sign >= 0n ? a : b;
};

/** The bit pattern of a result in a destination. */
function stored(x: Real, type: DataType, control: number, saturate: boolean): bigint {
  if (type === "bool") return x.kind === "finite" ? x.value.n : 0n;
  if (isFloat(type)) {
    const format = formats[type]!;
    if (x.kind === "nan") return saturate ? 0n : infinityOf(format) | 1n;
    if (saturate && x.negative) return 0n;
    if (x.kind === "infinite") {
      return saturate
        ? stored(integral(1n), type, control, false)
        : infinityOf(format) | (x.negative ? signOf(format) : 0n);
    }
    if (saturate && x.value.n > x.value.d) return stored(integral(1n), type, control, false);
    return model.patternOf(x.value, format, modeOf(control), x.negative);
  }
  const width = BigInt(typeBytes(type) * 8);
  const least = isSigned(type) ? -(1n << (width - 1n)) : 0n;
  const most = least + (1n << width) - 1n;
  if (x.kind === "nan") return 0n;
  const whole = x.kind === "infinite" ? null : x.negative ? up(x.value) : below(x.value);
  const value = whole === null ? (x.negative ? least : most) : whole < least ? least : whole > most ? most : whole;
  return BigInt.asUintN(Number(width), value);
}

interface Operation {
  readonly mnemonic: string;
  readonly types: readonly DataType[];
  /** Whether results are predicates. */
  readonly predicate?: true;
  readonly saturates?: true;
  readonly exact: (...sources: readonly [a: Real, b: Real, c: Real, mode: model.Mode]) => Real;
  readonly sources: 1 | 2 | 3;
}

const all = ["f", "df", "hf", "bf"] as const;
const operations: readonly Operation[] = [
  { mnemonic: "add", types: all, sources: 2, saturates: true, exact: (a, b, _, mode) => sum(a, b, mode) },
  { mnemonic: "mul", types: all, sources: 2, saturates: true, exact: (a, b) => product(a, b) },
  { mnemonic: "mad", types: all, sources: 3, saturates: true, exact: (a, b, c, mode) => sum(product(a, b), c, mode) },
  { mnemonic: "divm", types: ["f", "df"], sources: 2, exact: (a, b) => quotient(a, b) },
  { mnemonic: "sqrtm", types: ["f", "df"], sources: 1, exact: (a) => root(a) },
  { mnemonic: "rndd", types: ["f"], sources: 1, saturates: true, exact: rounding(below) },
  { mnemonic: "rndu", types: ["f"], sources: 1, saturates: true, exact: rounding(up) },
  { mnemonic: "rnde", types: ["f"], sources: 1, saturates: true, exact: rounding(toEven) },
  { mnemonic: "rndz", types: ["f"], sources: 1, exact: (a) => rounding(a.negative ? up : below)(a) },
  { mnemonic: "min", types: all, sources: 2, saturates: true, exact: extremum(-1n) },
  { mnemonic: "max", types: all, sources: 2, saturates: true, exact: extremum(1n) },
  ...(
    [
      ["eq", (o) => o === 0n],
      ["ne", (o) => o !== 0n],
      ["lt", (o) => o !== null && o < 0n],
      ["le", (o) => o !== null && o <= 0n],
      ["gt", (o) => o !== null && o > 0n],
      ["ge", (o) => o !== null && o >= 0n],
    ] satisfies readonly (readonly [string, (order: bigint | null) => boolean])[]
  ).map(
    ([name, holds]): Operation => ({
      mnemonic: `cmp.${name}`,
      types: all,
      sources: 2,
      predicate: true,
      exact: relation(holds),
    }),
  ),
];

class Generator extends Random {
  pick<T>(list: readonly T[]): T {
    return list[this.next(list.length)]!;
  }

  /**
   * A pattern: any, or one near 0, the least normal number, 1, the greatest number, infinity or a value between
   * integers.
   */
  pattern(type: DataType): bigint {
    const width = typeBytes(type) * 8;
    const any = [...this.bytes(8)].reduce((v, byte) => (v << 8n) | BigInt(byte), 0n);
    if (!isFloat(type)) {
      const least = isSigned(type) ? -(1n << BigInt(width - 1)) : 0n;
      const near = BigInt(this.next(4));
      const value = this.pick([
        least + near,
        least + (1n << BigInt(width)) - 1n - near,
        near,
        any,
        any >> 41n,
        any >> 10n,
      ]);
      return isSigned(type) ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
    }
    const format = formats[type]!;
    const infinity = infinityOf(format);
    const unit = 1n << BigInt(format.fractionBits);
    const bias = (infinity >> 1n) & ~(unit - 1n);
    const half = BigInt(this.next(80)) * (unit >> 3n);
    const near = BigInt(this.next(5)) - 2n;
    const base = this.pick([
      any,
      near + 2n,
      unit + near,
      bias + near,
      infinity + near,
      bias + half,
      bias - 30n * unit + (any & 0x3fff_ffffn),
    ]);
    const sign = this.pick([0n, signOf(format)]);
    return BigInt.asUintN(width, (BigInt.asUintN(width, base) & ~signOf(format)) | sign);
  }
}

const controls = modes.flatMap((_, mode) => [(mode << 4) | 0x4c0, mode << 4]);

/** The disagreements. Zeros of either sign are equal if `anyZero`. */
function wrongOf(vectors: readonly Vector[], anyZero: boolean): readonly string[] {
  const got = runVectors(vectors, true);
  return vectors.flatMap(({ at, control, mnemonic, results }, v) => {
    const { type, bits } = results[0]!;
    const value = got[v]![0]!;
    const format = formats[type];
    const same =
      value === bits ||
      (isNan(type, value) && isNan(type, bits)) ||
      (anyZero && format !== undefined && ((value | bits) & ~signOf(format)) === 0n);
    return same
      ? []
      : [`0x${control.toString(16)}: ${mnemonic} ${at} -> 0x${value.toString(16)}, not 0x${bits.toString(16)}`];
  });
}

const described = (sources: Vector["sources"]): string =>
  sources.map(({ modifier, bits, type }) => `${modifier}0x${bits.toString(16)}:${type}`).join(" ");

test.each(operations.map((operation) => [operation.mnemonic, operation] as const))(
  "%s as IEEE 754 has it",
  (mnemonic, operation) => {
    const generator = new Generator(mnemonic.length * 91 + mnemonic.charCodeAt(mnemonic.length - 1));
    const vectors = controls.flatMap((control) =>
      Array.from({ length: 50 }, (): Vector => {
        const type = generator.pick(operation.types);
        const saturate = operation.saturates === true && generator.next(4) === 0;
        const sources = Array.from({ length: operation.sources }, () => ({
          type,
          bits: generator.pattern(type),
          immediate: false,
          modifier: generator.pick(Object.keys(modifiers)),
        }));
        const [a, b = nan, c = nan] = sources.map((s) =>
          modifiers[s.modifier]!(decoded(type, flushed(type, s.bits, control))),
        );
        const to = operation.predicate === true ? "bool" : type;
        const exact = operation.exact(a!, b, c, modeOf(control));
        const bits = stored(exact, to, control, saturate);
        return {
          at: described(sources),
          control,
          mnemonic: `${mnemonic}${saturate ? ".sat" : ""}`,
          guard: null,
          results: [{ type: to, bits: to === "bool" ? bits : flushed(type, bits, control) }],
          sources,
          origin: "",
        };
      }),
    );
    expect(wrongOf(vectors, mnemonic === "min" || mnemonic === "max")).toEqual([]);
  },
);

const numbers = ["ub", "b", "uw", "w", "ud", "d", "uq", "q", "hf", "bf", "f", "df"] as const;

test.each(numbers)("mov converts to %s", (to) => {
  const generator = new Generator(to.charCodeAt(0) * 7 + to.length);
  const sourceTypes = numbers.filter((type) => type !== to && (isFloat(type) || isFloat(to)));
  const vectors = modes.flatMap((_, mode) =>
    Array.from({ length: 150 }, (): Vector => {
      const control = (mode << 4) | 0x4c0;
      const type = generator.pick(sourceTypes);
      const bits = generator.pattern(type);
      const saturate = generator.next(4) === 0;
      // It is not specified whether negated 64-bit integers have an extra bit.
      const modifier = type === "q" || type === "uq" ? "" : generator.pick(Object.keys(modifiers));
      const source = { type, bits, immediate: false, modifier };
      const modified = modifiers[modifier]!(decoded(type, bits));
      const exact = isFloat(type) || !isZero(modified) ? modified : integral(0n);
      return {
        at: `${to} = ${described([source])}`,
        control,
        mnemonic: saturate ? "mov.sat" : "mov",
        guard: null,
        results: [{ type: to, bits: stored(exact, to, control, saturate) }],
        sources: [source],
        origin: "",
      };
    }),
  );
  expect(wrongOf(vectors, false)).toEqual([]);
});
