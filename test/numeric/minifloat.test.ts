import { describe, expect, it } from "vitest";
import {
  type MinifloatName,
  minifloats,
  minifloatToNumber,
  numberToMinifloat,
  numberToUe8m0,
  ue8m0ToNumber,
} from "../../src/numeric/minifloat.ts";

/** PTX 5.2.3: the widths of the fields, and which patterns are not numbers. */
const manual: Readonly<
  Record<MinifloatName, { exponent: number; fraction: number; nan: (magnitude: number) => boolean; infinity: number }>
> = {
  e4m3: { exponent: 4, fraction: 3, nan: (m) => m === 0x7f, infinity: -1 },
  e5m2: { exponent: 5, fraction: 2, nan: (m) => m > 0x7c, infinity: 0x7c },
  e2m3: { exponent: 2, fraction: 3, nan: () => false, infinity: -1 },
  e3m2: { exponent: 3, fraction: 2, nan: () => false, infinity: -1 },
  e2m1: { exponent: 2, fraction: 1, nan: () => false, infinity: -1 },
};
/** The largest numbers, as the OCP formats and the manual's MAX_NORM give them. */
const largest: Readonly<Record<MinifloatName, number>> = { e4m3: 448, e5m2: 57344, e2m3: 7.5, e3m2: 28, e2m1: 6 };
const names = Object.keys(manual) as MinifloatName[];

function numberOf(name: MinifloatName, bits: number): number {
  const { exponent, fraction, nan, infinity } = manual[name];
  const magnitude = bits & (2 ** (exponent + fraction) - 1);
  const sign = bits >> (exponent + fraction) ? -1 : 1;
  if (nan(magnitude)) return NaN;
  if (magnitude === infinity) return sign * Infinity;
  const e = magnitude >> fraction;
  const f = (magnitude & (2 ** fraction - 1)) / 2 ** fraction;
  const bias = 2 ** (exponent - 1) - 1;
  return sign * (e ? (1 + f) * 2 ** (e - bias) : f * 2 ** (1 - bias));
}

describe.each(names)("%s", (name) => {
  const bits = 1 + manual[name].exponent + manual[name].fraction;
  const finite = Array.from({ length: 2 ** (bits - 1) }, (_, i) => i).filter((i) => Number.isFinite(numberOf(name, i)));

  it("gives every pattern its value", () => {
    for (let i = 0; i < 2 ** bits; i++)
      expect([i, minifloatToNumber(i, minifloats[name])]).toEqual([i, numberOf(name, i)]);
  });

  it("converts every number to its own pattern", () => {
    for (let i = 0; i < 2 ** bits; i++) {
      if (Number.isFinite(numberOf(name, i))) expect(numberToMinifloat(numberOf(name, i), minifloats[name])).toBe(i);
    }
  });

  it("rounds everything between two neighbours to the nearer, and the middle to the even one", () => {
    for (const low of finite.slice(0, -1)) {
      const [a, b] = [numberOf(name, low), numberOf(name, low + 1)];
      const even = low % 2 === 0 ? low : low + 1;
      const cases: readonly [number, number][] = [
        [a + (b - a) * 2 ** -30, low],
        [a + (b - a) * (0.5 - 2 ** -30), low],
        [(a + b) / 2, even],
        [a + (b - a) * (0.5 + 2 ** -30), low + 1],
        [b - (b - a) * 2 ** -30, low + 1],
      ];
      for (const [x, want] of cases) {
        expect([x, numberToMinifloat(x, minifloats[name])]).toEqual([x, want]);
        expect([-x, numberToMinifloat(-x, minifloats[name])]).toEqual([-x, want | (1 << (bits - 1))]);
      }
    }
  });

  it("saturates", () => {
    const max = finite.at(-1)!;
    expect(numberOf(name, max)).toBe(largest[name]);
    for (const x of [largest[name] * 1.001, largest[name] * 2, 1e300, Infinity]) {
      expect(numberToMinifloat(x, minifloats[name])).toBe(max);
      expect(numberToMinifloat(-x, minifloats[name])).toBe(max | (1 << (bits - 1)));
    }
  });

  it("converts NaN to NaN, or in a format without one to the largest number", () => {
    const hasNan = name === "e4m3" || name === "e5m2";
    expect(numberToMinifloat(NaN, minifloats[name])).toBe(hasNan ? 0x7f : finite.at(-1));
  });
});

describe("ue8m0", () => {
  it("holds powers of two and one NaN", () => {
    for (let i = 0; i < 255; i++) {
      expect(ue8m0ToNumber(i)).toBe(2 ** (i - 127));
      for (const mode of ["rz", "rp"] as const) expect(numberToUe8m0(-(2 ** (i - 127)), mode, false)).toBe(i);
    }
    expect(ue8m0ToNumber(255)).toBeNaN();
  });

  it("rounds between two powers down or up, and to nothing below 2^-127", () => {
    for (let i = 0; i < 254; i++) {
      for (const part of [2 ** -22, 0.5, 1 - 2 ** -22]) {
        const x = 2 ** (i - 127) * (1 + part);
        expect([i, numberToUe8m0(x, "rz", true), numberToUe8m0(x, "rp", true)]).toEqual([i, i, i + 1]);
      }
    }
    for (const x of [0, 2 ** -149, 2 ** -128])
      expect([numberToUe8m0(x, "rz", true), numberToUe8m0(x, "rp", true)]).toEqual([0, 0]);
  });

  it("overflows to NaN, or with saturation to the largest number", () => {
    const max = (2 - 2 ** -23) * 2 ** 127;
    expect([numberToUe8m0(max, "rp", false), numberToUe8m0(max, "rp", true)]).toEqual([255, 254]);
    expect([numberToUe8m0(max, "rz", false), numberToUe8m0(-Infinity, "rz", true)]).toEqual([254, 254]);
    expect([numberToUe8m0(Infinity, "rz", false), numberToUe8m0(NaN, "rp", true)]).toEqual([255, 255]);
  });
});
