import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PrimName, primOf, type Ty, type Value } from "../../src/semantics/index.ts";
import { bitPrims } from "../../src/semantics/prims/bits.ts";
import { integerPrims } from "../../src/semantics/prims/integer.ts";
import { integer64Prims } from "../../src/semantics/prims/integer64.ts";
import { videoPrims } from "../../src/semantics/prims/video.ts";

/**
 * Models over integers of any size, each written from the definition of the operation. They share no code with the
 * primitives.
 */

const s = (bits: number, v: bigint): bigint => BigInt.asIntN(bits, v);
const u = (bits: number, v: bigint): bigint => BigInt.asUintN(bits, v);
const towardsZero = (a: bigint, b: bigint): bigint => {
  const magnitude = (a < 0n ? -a : a) / (b < 0n ? -b : b);
  return a < 0n === b < 0n ? magnitude : -magnitude;
};
const clampedCount = (bits: number, n: bigint): bigint => (u(32, n) > BigInt(bits) ? BigInt(bits) : u(32, n));

type Model = (a: bigint, b: bigint, c: bigint) => bigint;

/** Applies the operation of that name to signed values of a width; results are compared modulo 2^bits. */
const models = (bits: number): Readonly<Record<string, Model>> => ({
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  mul_high_s: (a, b) => (a * b) >> BigInt(bits),
  mul_high_u: (a, b) => (u(bits, a) * u(bits, b)) >> BigInt(bits),
  div_s: (a, b) => (b === 0n ? -1n : towardsZero(a, b)),
  div_u: (a, b) => (b === 0n ? -1n : u(bits, a) / u(bits, b)),
  rem_s: (a, b) => (b === 0n ? -1n : a - b * towardsZero(a, b)),
  rem_u: (a, b) => (b === 0n ? -1n : u(bits, a) - u(bits, b) * (u(bits, a) / u(bits, b))),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  eq: (a, b) => BigInt(a === b),
  ne: (a, b) => BigInt(a !== b),
  lt_s: (a, b) => BigInt(a < b),
  lt_u: (a, b) => BigInt(u(bits, a) < u(bits, b)),
  le_s: (a, b) => BigInt(a <= b),
  le_u: (a, b) => BigInt(u(bits, a) <= u(bits, b)),
  shl: (a, n) => a << clampedCount(bits, n),
  shr_s: (a, n) => a >> clampedCount(bits, n),
  shr_u: (a, n) => u(bits, a) >> clampedCount(bits, n),
  select: (p, a, b) => (p !== 0n ? a : b),
});

const bitString = (a: bigint): string => u(32, a).toString(2).padStart(32, "0");

/** Section 9.7.1.17, as written. */
const nthSet: Model = (mask, base, offset) => {
  if (base < 0n || base > 31n) return -1n;
  const isSet = (at: bigint) => ((u(32, mask) >> at) & 1n) === 1n;
  if (offset === 0n) return isSet(base) ? base : -1n;
  let left = (offset < 0n ? -offset : offset) - 1n;
  for (let at = base; at >= 0n && at < 32n; at += offset > 0n ? 1n : -1n) {
    if (isSet(at) && left-- === 0n) return at;
  }
  return -1n;
};

/** Section 9.7.9.7, the table for the generic form. */
const permute: Model = (a, b, selection) =>
  [0, 1, 2, 3].reduce((word, i) => {
    const nibble = Number((u(32, selection) >> BigInt(4 * i)) & 15n);
    const byte = (((u(32, b) << 32n) | u(32, a)) >> BigInt(8 * (nibble & 7))) & 255n;
    const picked = nibble & 8 ? (byte & 128n ? 255n : 0n) : byte;
    return word | (picked << BigInt(8 * i));
  }, 0n);

const others: Readonly<Record<string, Model>> = {
  "i32.extend8_s": (a) => s(8, a),
  "i32.extend16_s": (a) => s(16, a),
  "i32.popcnt": (a) => BigInt(bitString(a).replaceAll("0", "").length),
  "i32.clz": (a) => BigInt(/^0*/.exec(bitString(a))![0].length),
  "i32.brev": (a) => BigInt(`0b${[...bitString(a)].reverse().join("")}`),
  "i32.nth_set": nthSet,
  "i32.permute": permute,
  "i32.wrap_i64": (a) => a,
  "i32.high_i64": (a) => a >> 32n,
  "i64.extend_i32_s": (a) => a,
  "i64.extend_i32_u": (a) => u(32, a),
  "i64.from_halves": (low, high) => (high << 32n) | u(32, low),
  "i64.add_clamped": (a, b, flags) => {
    const has = (bit: bigint): boolean => ((flags >> bit) & 1n) === 1n;
    const term = (v: bigint, unsigned: boolean, negated: boolean) => (unsigned ? u(64, v) : v) * (negated ? -1n : 1n);
    const sum = term(a, has(0n), has(2n)) + term(b, has(1n), has(3n));
    const min = has(4n) ? 0n : -(2n ** 63n);
    const max = min + 2n ** 64n - 1n;
    return sum < min ? min : sum > max ? max : sum;
  },
  "i64.mul_add_shr_sat": (a, b, c) => {
    const exact = a * b + c;
    return exact > 2n ** 63n - 1n ? 2n ** 63n - 1n : exact < -(2n ** 63n) ? -(2n ** 63n) : exact;
  },
};

const cases: (readonly [PrimName, Model])[] = [
  ...[32, 64].flatMap((bits) =>
    Object.entries(models(bits)).map(([name, model]) => [`i${bits}.${name}` as PrimName, model] as const),
  ),
  ...Object.entries(others).map(([name, model]) => [name as PrimName, model] as const),
];

const toHost = (ty: Ty, v: bigint): Value =>
  ty === "pred" ? (v & 1n) === 1n : ty === "i32" ? Number(s(32, v)) : s(64, v);
const sized = (ty: Ty, v: bigint): bigint => (ty === "pred" ? v & 1n : s(ty === "i32" ? 32 : 64, v));

/** Compares a primitive with its model on these operands, modulo the width of the result. */
function check(name: PrimName, model: Model, operands: readonly bigint[]): void {
  const row = primOf(name);
  const values = row.params.map((ty, i) => sized(ty, operands[i] ?? 0n));
  const run = row.eval as (...args: Value[]) => Value;
  const got = run(...values.map((v, i) => toHost(row.params[i]!, v)));
  const want = toHost(row.result, model(values[0] ?? 0n, values[1] ?? 0n, values[2] ?? 0n));
  if (got !== want || Object.is(got, -0)) {
    expect.fail(`${name}(${values.join(", ")}) = ${got}, want ${want}`);
  }
}

const corners = [32, 64].flatMap((bits) => {
  const half = 2n ** BigInt(bits - 1);
  return [0n, 1n, 2n, half - 1n, half, half + 1n, 2n * half - 1n, BigInt(bits), BigInt(bits) - 1n, 0x8000n, 0xffffn];
});

const operand = fc.oneof(
  fc.constantFrom(...corners),
  fc.bigInt({ min: 0n, max: 70n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
);

describe("integer primitives against models over BigInt", () => {
  test("every integer primitive has a model", () => {
    const names = Object.keys({ ...integerPrims, ...integer64Prims, ...bitPrims, ...videoPrims });
    expect(cases.map(([name]) => name).sort()).toEqual(names.sort());
  });

  test.each(cases)("%s on corner cases", (name, model) => {
    for (const a of corners) for (const b of corners) check(name, model, [a, b, a ^ b]);
  });

  test.each(cases)("%s on random operands", (name, model) => {
    // `mul_add_shr_sat` shifts by its fourth operand, which has its own test.
    fc.assert(
      fc.property(operand, operand, operand, (a, b, c) => check(name, model, [a, b, c])),
      { numRuns: 400 },
    );
  });

  test("every i32 shift by every count from 0 to 70", () => {
    for (const name of ["shl", "shr_s", "shr_u"]) {
      for (const bits of [32, 64]) {
        const model = models(bits)[name]!;
        for (let n = 0n; n <= 70n; n++) for (const a of corners) check(`i${bits}.${name}` as PrimName, model, [a, n]);
      }
    }
  });
});

describe("exhaustively at 8 and 16 bits", () => {
  test.each(["i32.extend8_s", "i32.extend16_s", "i32.popcnt", "i32.clz", "i32.brev"] as const)("%s", (name) => {
    for (let a = 0; a < 0x1_0000; a++) {
      check(name, others[name]!, [BigInt(a)]);
      check(name, others[name]!, [BigInt(a) << 16n]);
    }
  });

  const bytes = Array.from({ length: 256 }, (_, i) => s(8, BigInt(i)));
  test.each(["div_s", "rem_s", "mul", "mul_high_s", "mul_high_u", "lt_s", "lt_u"])(
    "i32.%s and i64.%s of bytes",
    (name) => {
      for (const bits of [32, 64]) {
        const model = models(bits)[name]!;
        for (const a of bytes) for (const b of bytes) check(`i${bits}.${name}` as PrimName, model, [a, b]);
      }
    },
  );

  test("i32.permute with every selection", () => {
    for (let selection = 0; selection < 0x1_0000; selection++)
      check("i32.permute", permute, [0x83_82_81_00n, 0x07_86_85_04n, BigInt(selection)]);
  });
});

test("i64.mul_add_shr_sat keeps every bit until it has shifted", () => {
  const run = primOf("i64.mul_add_shr_sat").eval as (...args: Value[]) => Value;
  const max = 2n ** 63n - 1n;
  expect(run(0xffff_ffffn, 0xffff_ffffn, 0xffff_ffffn, 0)).toBe(max);
  expect(run(0xffff_ffffn, 0xffff_ffffn, 0xffff_ffffn, 7)).toBe((0xffff_ffffn * 0xffff_ffffn + 0xffff_ffffn) >> 7n);
  expect(run(-0xffff_ffffn, 0xffff_ffffn, 0n, 15)).toBe((-0xffff_ffffn * 0xffff_ffffn) >> 15n);
  expect(run(-0xffff_ffffn, 0xffff_ffffn, 0n, 0)).toBe(-max - 1n);
});
