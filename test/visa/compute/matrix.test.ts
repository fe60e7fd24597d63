import { expect, test } from "vitest";
import { type Precision, precisions } from "../../../src/visa/isa/systolic.ts";
import { dwords, Random, run } from "../memory/machine.ts";
import { formats } from "./patterns.ts";
import { valueOfPattern, type Format } from "../../numeric/model.ts";

/**
 * dpas against the definition at the top of its page: D = C + A x B with D and C of M x N elements row by row, A (src2)
 * of M x K packed row by row, B (src1) of K x N with each column packed in a column of doublewords.
 */
const small: Readonly<Record<string, Format>> = {
  bf: formats["bf"]!,
  hf: formats["hf"]!,
  tf32: { exponentBits: 8, fractionBits: 23 },
  bf8: { exponentBits: 5, fractionBits: 2 },
  hf8: { exponentBits: 4, fractionBits: 3 },
  e2m1: { exponentBits: 2, fractionBits: 1 },
};

const widthOf = (precision: Precision): number => {
  const format = small[precision];
  return format ? 1 + format.exponentBits + format.fractionBits : Number(precision.slice(1));
};

/** Bits of a packed array, element `index`. */
function element(bytes: Uint8Array, precision: Precision, index: number): number {
  const width = widthOf(precision);
  let pattern = 0n;
  for (let i = 0; i < width; i++) {
    const at = index * width + i;
    pattern |= BigInt((bytes[at >> 3]! >> (at & 7)) & 1) << BigInt(i);
  }
  const format = small[precision];
  if (format) {
    const { n, d } = valueOfPattern(pattern, format);
    return Number(n) / Number(d);
  }
  return Number(precision.startsWith("s") ? BigInt.asIntN(width, pattern) : pattern);
}

/** Patterns of numbers whose sums need no rounding, such as 0, +-1 and +-2. */
const exactPatterns: Readonly<Record<string, readonly number[]>> = {
  bf: [0, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4040],
  hf: [0, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4200],
  tf32: [0, 0x3f80_0000, 0xbf80_0000, 0x4000_0000, 0x4040_0000],
  bf8: [0, 0x3c, 0xbc, 0x40, 0xc0, 0x42],
  hf8: [0, 0x38, 0xb8, 0x40, 0xc0, 0x44],
  e2m1: [0, 1, 2, 4, 7, 9, 10, 12, 15],
};

function packed(random: Random, precision: Precision, bytes: number): Uint8Array {
  const patterns = exactPatterns[precision];
  if (patterns === undefined) return random.bytes(bytes);
  const width = widthOf(precision);
  const result = new Uint8Array(bytes);
  for (let index = 0; index < (bytes * 8) / width; index++) {
    const pattern = patterns[random.next(patterns.length)]!;
    for (let i = 0; i < width; i++) {
      const at = index * width + i;
      if ((pattern / 2 ** i) & 1) result[at >> 3] = result[at >> 3]! | (1 << (at & 7));
    }
  }
  return result;
}

const integers = (Object.keys(precisions) as Precision[]).filter((p) => /^[us]/.test(p));
const integerPairs = integers.flatMap((weights) => integers.map((activations) => ({ weights, activations })));
const floatPairs: readonly { weights: Precision; activations: Precision }[] = [
  { weights: "bf", activations: "bf" },
  { weights: "hf", activations: "hf" },
  { weights: "tf32", activations: "tf32" },
  { weights: "bf8", activations: "bf8" },
  { weights: "hf8", activations: "bf8" },
  { weights: "e2m1", activations: "e2m1" },
];

interface Shape {
  readonly channels: 8 | 16;
  readonly count: number;
  readonly isFloat: boolean;
  readonly withC: boolean;
}

function compare(weights: Precision, activations: Precision, { channels, count, isFloat, withC }: Shape): void {
  const random = new Random(17 + count);
  const perStep = isFloat ? 32 / widthOf(weights) : widthOf(weights) === 8 || widthOf(activations) === 8 ? 4 : 8;
  const k = 8 * perStep;
  const columnBytes = Math.ceil((k * widthOf(weights)) / 8);
  const columns = Array.from({ length: channels }, () => packed(random, weights, columnBytes));
  const b = new Uint8Array(columnBytes * channels);
  for (const [n, column] of columns.entries()) {
    for (const [i, byte] of column.entries()) b[((i >> 2) * channels + n) * 4 + (i & 3)] = byte;
  }
  const a = packed(random, activations, Math.ceil((count * k * widthOf(activations)) / 8));
  const sums = Array.from({ length: count * channels }, () => random.next(2000) - 1000);
  const c = isFloat ? new Uint8Array(new Float32Array(sums).buffer) : dwords(...sums);
  const wanted = sums.map((sum, at) => {
    const [row, n] = [Math.floor(at / channels), at % channels];
    let total = withC ? sum : 0;
    for (let i = 0; i < k; i++) total += element(columns[n]!, weights, i) * element(a, activations, row * k + i);
    return total;
  });
  const type = isFloat ? "f" : "d";
  const whole = (bytes: Uint8Array): Uint8Array => {
    const result = new Uint8Array(Math.max(64, Math.ceil(bytes.length / 4) * 4));
    result.set(bytes);
    return result;
  };
  const { registers, reports } = run({
    text: `dpas.${weights}.${activations}.8.${count} (M1, ${channels}) D.0 ${withC ? "C" : "%null"}.0 B.0 A(0,0)`,
    grfBytes: channels === 8 ? 32 : 64,
    registers: () => ({
      D: { type, bytes: new Uint8Array(c.length) },
      C: { type, bytes: c },
      B: { type: "d", bytes: whole(b) },
      A: { type: "d", bytes: whole(a) },
    }),
  });
  expect(reports).toEqual([]);
  const bytes = registers["D"]!.slice().buffer;
  expect([...(isFloat ? new Float32Array(bytes) : new Int32Array(bytes))]).toEqual(wanted);
}

test.each(integerPairs)("dpas.$weights.$activations", ({ weights, activations }) => {
  compare(weights, activations, { channels: 8, count: 8, isFloat: false, withC: true });
  compare(weights, activations, { channels: 16, count: 3, isFloat: false, withC: false });
});

test.each(floatPairs)("dpas.$weights.$activations", ({ weights, activations }) => {
  compare(weights, activations, { channels: 8, count: 5, isFloat: true, withC: true });
  compare(weights, activations, { channels: 16, count: 8, isFloat: true, withC: false });
});

test("a sum of bf16 in bf16: src0 and dst take half a register per row", () => {
  const row = (value: number): number[] => Array.from({ length: 16 }, () => value);
  const words = (...values: number[]): Uint8Array => new Uint8Array(new Uint16Array(values).buffer);
  const { registers } = run({
    text: "dpas.bf.bf.8.2 (M1, 16) D.0 C.0 B.0 A(0,0)",
    grfBytes: 64,
    registers: () => ({
      D: { type: "bf", bytes: new Uint8Array(64) },
      // Rows of 1 and 2.
      C: { type: "bf", bytes: words(...row(0x3f80), ...row(0x4000)) },
      B: { type: "d", bytes: words(...Array.from({ length: 8 * 32 }, () => 0x3f80)) },
      // The second row of A is 0.
      A: { type: "d", bytes: words(...row(0x3f80), ...row(0)) },
    }),
  });
  expect([...new Uint16Array(registers["D"]!.slice().buffer)]).toEqual([...row(0x4188), ...row(0x4000)]);
});
