import { describe, expect, it } from "vitest";
import {
  bf16ToNumber,
  bf16ToNumbers,
  f16ToNumber,
  numbersToBf16,
  numberToBf16,
  numberToF16,
  type RoundingMode,
} from "../../src/numeric/half.ts";
import { Exact, type Format, nearest } from "./exact.ts";

const formats = [
  { name: "f16", decode: f16ToNumber, encode: numberToF16, format: { exponent: 5, fraction: 10 } },
  { name: "bf16", decode: bf16ToNumber, encode: numberToBf16, format: { exponent: 8, fraction: 7 } },
] as const satisfies readonly { name: string; format: Format; decode: unknown; encode: unknown }[];
const modes: readonly RoundingMode[] = ["rn", "rz", "rm", "rp", "rna"];

/** The value of a pattern by the definition in IEEE 754-2019, 3.4. */
const numberOf = (bits: number, { exponent, fraction }: Format): number => {
  const sign = bits >> (exponent + fraction) ? -1 : 1;
  const e = (bits >> fraction) & (2 ** exponent - 1);
  const f = bits & (2 ** fraction - 1);
  const bias = 2 ** (exponent - 1) - 1;
  if (e === 2 ** exponent - 1) return f ? NaN : sign * Infinity;
  return sign * (e ? (1 + f / 2 ** fraction) * 2 ** (e - bias) : (f / 2 ** fraction) * 2 ** (1 - bias));
};

describe.each(formats)("$name", ({ decode, encode, format }) => {
  it("gives every pattern the value that IEEE 754 gives it", () => {
    for (let bits = 0; bits < 0x1_0000; bits++) {
      if (!Object.is(decode(bits), numberOf(bits, format))) expect.fail(`0x${bits.toString(16)}: ${decode(bits)}`);
    }
  });

  it("converts every number to its own pattern in every mode, and NaN to 0x7fff", () => {
    for (let bits = 0; bits < 0x1_0000; bits++) {
      const value = numberOf(bits, format);
      for (const mode of modes) {
        if (encode(value, mode) !== (Number.isNaN(value) ? 0x7fff : bits))
          expect.fail(`0x${bits.toString(16)} ${mode}`);
      }
    }
  });

  it("rounds around and between every two neighbours as exact arithmetic does", () => {
    const largest = 2 ** (format.exponent + format.fraction) - 2 ** format.fraction - 1;
    for (let bits = 0; bits <= largest; bits++) {
      const low = numberOf(bits, format);
      const step =
        numberOf(bits < largest ? bits + 1 : bits, format) - (bits < largest ? low : numberOf(bits - 1, format));
      // A quarter, just below the middle, the middle, just above it, three quarters, just below the upper neighbour.
      for (const part of [2 ** -40, 0.25, 0.5 - 2 ** -40, 0.5, 0.5 + 2 ** -40, 0.75, 1 - 2 ** -40]) {
        const value = low + step * part;
        for (const x of [value, -value]) {
          const exact = Exact.of(x);
          for (const mode of modes) {
            const want = nearest(exact, format, mode);
            if (encode(x, mode) !== want)
              expect.fail(`${x} ${mode}: 0x${encode(x, mode).toString(16)}, want 0x${want.toString(16)}`);
          }
        }
      }
    }
  });

  it("rounds the extremes of binary64", () => {
    for (const x of [5e-324, 2 ** -1022, 1e308, Number.MAX_VALUE, 65519.99999, 65520, 2 ** -25, 2 ** -134, 0.1]) {
      for (const y of [x, -x]) {
        for (const mode of modes)
          expect([y, mode, encode(y, mode)]).toEqual([y, mode, nearest(Exact.of(y), format, mode)]);
      }
    }
    for (const mode of modes) {
      expect(decode(encode(Infinity, mode))).toBe(Infinity);
      expect(decode(encode(-Infinity, mode))).toBe(-Infinity);
      expect(encode(-0, mode)).toBe(0x8000);
    }
  });
});

describe("many bf16 at once", () => {
  it("have the values of one by one", () => {
    const halves = Uint16Array.from({ length: 0x1_0000 }, (_, i) => i);
    const values = new Float32Array(halves.length);
    bf16ToNumbers(halves, values);
    expect(values).toEqual(Float32Array.from(halves, bf16ToNumber));
  });

  it("are rounded as one by one: every pattern, and what lies around the middle between two", () => {
    const words = Uint32Array.from({ length: 0x1_0000 * 6 }, (_, i) => {
      const low = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff][i % 6]!;
      return Math.floor(i / 6) * 0x1_0000 + low;
    });
    const values = new Float32Array(words.buffer);
    expect(numbersToBf16(values)).toEqual(Uint16Array.from(values, (value) => numberToBf16(value)));
  });
});
