import { describe, expect, test } from "vitest";
import { type ElementFormat, fragmentOf, type MatrixProduct, type ProductRule } from "../../src/ir/index.ts";
import { type TensorFormat, tensorSum } from "../../src/numeric/tensor.ts";
import { multiplyElements } from "../../src/program/matrix-product.ts";
import { hostTile } from "../../src/tiles/index.ts";
import { randomWords } from "../random-words.ts";

/*
 * The products in WebAssembly against those of numeric/tensor.ts, which are formed element by element, on registers
 * from every source that is hard on sums: any pattern, numbers of like size, exponents far apart, sums that cancel,
 * subnormal numbers, zeros of both signs, accumulators of any size.
 */

function product(a: ElementFormat, b: ElementFormat, k: number, rule: ProductRule, bits: number): MatrixProduct {
  const c = rule.kind === "integer" ? "s32" : "f32";
  return { m: 16, n: 8, k, a, b, c, d: c, bits, rule, fragments: { kind: "whole" } };
}

const sum = (sm: number, a: TensorFormat, b: TensorFormat, k: number, bits: number): MatrixProduct =>
  product(a, b, k, { kind: "sum", sum: tensorSum(sm, a, k, false) }, bits);

const floats: readonly (readonly [string, MatrixProduct])[] = [70, 75, 80, 89, 90, 120].flatMap((sm) => [
  [`f16, k = 16, sm_${sm}`, sum(sm, "f16", "f16", 16, 16)] as const,
  [`f16, k = 8, sm_${sm}`, sum(sm, "f16", "f16", 8, 16)] as const,
  [`bf16, k = 16, sm_${sm}`, sum(sm, "bf16", "bf16", 16, 16)] as const,
  [`bf16, k = 8, sm_${sm}`, sum(sm, "bf16", "bf16", 8, 16)] as const,
  [`tf32, k = 8, sm_${sm}`, sum(sm, "tf32", "tf32", 8, 32)] as const,
  [`tf32, k = 4, sm_${sm}`, sum(sm, "tf32", "tf32", 4, 32)] as const,
  ...(sm < 89
    ? []
    : [
        [`e4m3, k = 32, sm_${sm}`, sum(sm, "e4m3", "e4m3", 32, 8)] as const,
        [`e5m2 and e4m3, k = 16, sm_${sm}`, sum(sm, "e5m2", "e4m3", 16, 8)] as const,
        [`e3m2 and e2m3, k = 32, sm_${sm}`, sum(sm, "e3m2", "e2m3", 32, 8)] as const,
        [`e2m1 and e5m2, k = 32, sm_${sm}`, sum(sm, "e2m1", "e5m2", 32, 8)] as const,
      ]),
]);

const integers: readonly (readonly [string, MatrixProduct])[] = (["s8", "u8"] as const).flatMap((a) =>
  (["s8", "u8"] as const).flatMap((b) =>
    [16, 32, 64].flatMap((k) =>
      [false, true].map(
        (saturates) =>
          [
            `${a} and ${b}, k = ${k}${saturates ? ", clamped" : ""}`,
            product(a, b, k, { kind: "integer", saturates }, 8),
          ] as const,
      ),
    ),
  ),
);

const f32 = new Float32Array(1);
const pattern = new Int32Array(f32.buffer);
const bitsOf = (value: number): number => ((f32[0] = value), pattern[0]!);

/** Keeps the exponent fields of the elements in a word within some bits. */
const exponentMask: Partial<Record<ElementFormat, { readonly keep: number; readonly set: number }>> = {
  f16: { keep: ~0x70007000, set: 0x30003000 },
  bf16: { keep: ~0x78007800 & ~0x07800780, set: 0x3c003c00 | 0x01800180 },
  tf32: { keep: ~0x7f800000, set: 0x3f000000 },
};

/** Exponent fields that are drawn for each product: its elements have these, or one more. */
type Fields = Readonly<Record<"a" | "b" | "c", number>>;

type Fill = (random: () => number, p: MatrixProduct, of: "a" | "b" | "c", fields: Fields) => number;

/** Fields at the bounds within which products are exact, around them, or anywhere. */
function drawnField(random: () => number, format: ElementFormat): number {
  const any = random() >>> 0;
  if (format === "f16") return any % 31;
  const bounds = format === "f32" ? [0, 24, 25, 60, 100, 127, 226, 227, 253] : [88, 89, 90, 127, 150, 171, 172];
  return bounds[any % bounds.length]!;
}

/** An element with an exponent field, or a zero; packed, two of 16 bits. */
function elementWith(random: () => number, format: ElementFormat, field: number): number {
  const [exponentBits, fraction] = format === "f16" ? [5, 10] : format === "bf16" ? [8, 7] : [8, 23];
  const one = (): number => {
    const sign = random() << 31;
    if (random() % 4 === 0) return sign;
    const exponent = Math.min(field + ((random() >>> 0) % 2), 2 ** exponentBits - 2);
    return sign | (((exponent << fraction) | (random() & (2 ** fraction - 1))) << (31 - exponentBits - fraction));
  };
  return exponentBits + fraction === 31 ? one() : (one() >>> 16) | (one() & ~0xffff);
}

const fills: Readonly<Record<string, Fill>> = {
  "exponents at the bounds": (random, p, of, fields) =>
    p.rule.kind === "integer" || (of !== "c" && p.bits === 8)
      ? random() & ~0x40404040
      : elementWith(random, p[of], fields[of]),
  "one product, others zero": (random, p, of, fields) => {
    if (p.rule.kind === "integer" || p.bits === 8) return random() & ~0x40404040;
    return of === "c" || random() % 16 === 0 ? elementWith(random, p[of], fields[of]) : random() & 0x80008000 & ~0x8000;
  },
  "all large and positive": (random, p, of, fields) => {
    if (p.rule.kind === "integer" || p.bits === 8) return random() & 0x3f3f3f3f;
    if (of === "c") return (elementWith(random, "f32", 127 + (fields.c % 8)) | 0x007ff000) & 0x7fffffff;
    const most = { f16: 0x3fff3fff, bf16: 0x3fff3fff, tf32: 0x3fffe000 }[p[of] as "f16" | "bf16" | "tf32"];
    return random() % 8 === 0 ? most & ~0x00010000 : most;
  },
  "any pattern": (random) => random(),
  "like size": (random, p, of) => {
    if (of === "c") return p.rule.kind === "integer" ? random() >> 12 : bitsOf((random() / 2 ** 31) * 4);
    const mask = exponentMask[p[of]];
    if (mask === undefined) return p.rule.kind === "integer" ? random() : random() & ~0x40404040;
    return (random() & mask.keep) | mask.set;
  },
  "exponents near each other": (random, p, of) => {
    if (of === "c")
      return p.rule.kind === "integer" ? random() | 0x7f000000 : bitsOf((random() / 2 ** 31) * 2 ** (random() % 12));
    const mask = exponentMask[p[of]];
    if (mask === undefined) return random() & ~0x40404040;
    const near = random() & (p[of] === "tf32" ? 0x03800000 : p[of] === "bf16" ? 0x01800180 : 0x0c000c00);
    return ((random() & mask.keep) | mask.set) ^ near;
  },
  "zeros and small accumulators": (random, _, of) => {
    if (of === "c") return random() % 3 === 0 ? 0x80000000 | 0 : bitsOf(2 ** -((random() >>> 1) % 148));
    return random() % 4 !== 0 ? random() & 0x80008000 : random() & ~0x40404040;
  },
  "the same number": (_, p, of) =>
    of === "c" ? bitsOf(2 ** 22) : p.bits === 8 ? 0x37373737 : p.bits === 16 ? 0x3fff3fff : 0x3fffe000,
  "small integers": (random, p, of) => {
    const value = (random() >>> 3) % 9;
    if (of === "c") return p.rule.kind === "integer" ? value : bitsOf(value * 1000);
    const signed = (value - 4) * (p.bits === 8 ? 0 : 1);
    if (p[of] === "tf32") return bitsOf(signed);
    if (p[of] === "bf16") return (bitsOf(signed) >>> 16) * 0x10001;
    if (p[of] === "f16") return [0xc400, 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200, 0x4400][value]! * 0x10001;
    return random() & 0x87878787;
  },
};

/** How many of the products of all fills are computed in WebAssembly; each must be right. */
function compare(
  p: MatrixProduct,
  rounds: number,
): { readonly computed: Record<string, number>; readonly wrong: string[] } {
  const registers = { a: fragmentOf(p, "a").registers, b: fragmentOf(p, "b").registers };
  const tile = hostTile(p)!;
  const [from, to, expected] = [new Int32Array(1024), new Int32Array(1024), new Int32Array(1024)];
  const [afterA, afterB] = [32 * registers.a, 32 * (registers.a + registers.b)];
  const wrong: string[] = [];
  const computed: Record<string, number> = {};
  const random = randomWords(0x1234567);
  for (const [name, fill] of Object.entries(fills)) {
    computed[name] = 0;
    for (let round = 0; round < rounds; round++) {
      const fields = { a: drawnField(random, p.a), b: drawnField(random, p.b), c: drawnField(random, p.c) };
      for (let i = 0; i < afterB + 128; i++) {
        from[i] = fill(random, p, i < afterA ? "a" : i < afterB ? "b" : "c", fields);
      }
      multiplyElements(p, from, expected);
      if (!tile.multiply(from, to)) continue;
      computed[name]++;
      const at = to.subarray(0, 128).findIndex((word, i) => word !== expected[i]);
      if (at >= 0) wrong.push(`${name}: word ${at} is ${hex(to[at]!)} instead of ${hex(expected[at]!)}`);
    }
  }
  return { computed, wrong };
}

const hex = (word: number): string => (word >>> 0).toString(16);

describe("sums of products of floats", () => {
  test.each(floats)("%s", (_, p) => {
    const { computed, wrong } = compare(p, 60);
    expect(wrong).toEqual([]);
    for (const name of ["like size", "exponents near each other", "small integers"]) {
      expect(`${name}: ${computed[name]}`).toBe(`${name}: 60`);
    }
  });
});

describe("sums of products of integers", () => {
  test.each(integers)("%s", (_, p) => {
    const { computed, wrong } = compare(p, 20);
    expect(wrong).toEqual([]);
    for (const [name, count] of Object.entries(computed)) expect(`${name}: ${count}`).toBe(`${name}: 20`);
  });
});
