import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { primOf, type PrimName, type Value } from "../../src/semantics/index.ts";
import { Exact, type Format, nearest, roundedQuotient } from "../numeric/exact.ts";

/* The model is rational arithmetic (test/numeric/exact.ts), which shares no code with the primitives. */

const run = (name: string, ...args: Value[]): Value =>
  (primOf(name as PrimName).eval as (...a: Value[]) => Value)(...args);
const modes = ["rn", "rz", "rm", "rp"] as const;
const single: Format = { exponent: 8, fraction: 23 };
const half: Format = { exponent: 5, fraction: 10 };
const brain: Format = { exponent: 8, fraction: 7 };

const view = new DataView(new ArrayBuffer(8));
const singleOf = (bits: number): number => (view.setUint32(0, bits), view.getFloat32(0));
const doubleOf = (bits: bigint): number => (view.setBigUint64(0, bits), view.getFloat64(0));
/**
 * `nearest` returns patterns as numbers, which cannot hold those of binary64, so the exact value is compared instead.
 */
const nearestDouble = (n: bigint, mode: (typeof modes)[number]): bigint => {
  const negative = n < 0n;
  const magnitude = negative ? -n : n;
  const extra = BigInt(Math.max(0, magnitude.toString(2).length - 53));
  const rounded = roundedQuotient(magnitude, 1n << extra, mode, negative) << extra;
  return negative ? -rounded : rounded;
};

/** 64-bit integers of every length, many of them next to a half-way point. */
const integers = fc
  .tuple(
    fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    fc.integer({ min: 0, max: 63 }),
    fc.integer({ min: -2, max: 2 }),
  )
  .map(([bits, shift, near]) =>
    BigInt.asIntN(
      64,
      ((bits >> BigInt(shift)) & ~(((1n << 64n) - 1n) >> BigInt(Math.min(64, shift + 12)))) + BigInt(near),
    ),
  );

/** A pattern as the signed and as the unsigned number that it stands for. */
const bothSigns = (i: bigint) =>
  [
    ["s", i],
    ["u", BigInt.asUintN(64, i)],
  ] as const;

describe("64-bit integers", () => {
  test.each(modes)("to binary64, %s", (mode) => {
    fc.assert(
      fc.property(integers, (i) => {
        for (const [sign, n] of bothSigns(i)) {
          expect(BigInt(run(`f64.from_i64_${sign}_${mode}`, i) as number)).toBe(nearestDouble(n, mode));
        }
      }),
      { numRuns: 1500 },
    );
  });

  test.each([
    ["f32.from_f64", single],
    ["i32.f16_from_f64", half],
    ["i32.bf16_from_f64", brain],
  ] as const)("rounding to odd and then by %s equals rounding once", (prim, format) => {
    fc.assert(
      fc.property(integers, (i) => {
        for (const [sign, n] of bothSigns(i)) {
          const odd = run(`f64.from_i64_${sign}_odd`, i);
          for (const mode of modes) {
            const got = run(`${prim}_${mode}`, odd) as number;
            const want = nearest(new Exact(n, 1n), format, mode);
            expect([n, mode, got]).toEqual([n, mode, format === single ? singleOf(want) : want]);
          }
        }
      }),
      { numRuns: 1500 },
    );
  });
});

describe("binary64 to binary32", () => {
  test.each(modes)("%s, at and around the half-way points", (mode) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0x7f7f_ffff }),
        fc.integer({ min: -2, max: 2 }),
        fc.boolean(),
        (bits, near, negative) => {
          const low = singleOf(bits);
          const middle = low + (singleOf(bits + 1) - low) / 2;
          if (!Number.isFinite(middle)) return;
          const bitsOfMiddle = (view.setFloat64(0, middle), view.getBigUint64(0));
          const x = doubleOf(bitsOfMiddle + BigInt(near)) * (negative ? -1 : 1);
          if (Number.isNaN(x)) return;
          const want = singleOf(nearest(Exact.of(x), single, mode));
          expect([x, run(`f32.from_f64_${mode}`, x)]).toEqual([x, want]);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("tf32 is binary32 with 10 fraction bits", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0x7f7f_ffff }), fc.boolean(), (bits, negative) => {
        const x = singleOf(bits) * (negative ? -1 : 1);
        for (const mode of ["rn", "rz", "rna"] as const) {
          const want = nearest(Exact.of(x), { exponent: 8, fraction: 10 }, mode) * 2 ** 13;
          expect([x, mode, (run(`i32.tf32_from_f64_${mode}`, x) as number) >>> 0]).toEqual([x, mode, want]);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe("to integers", () => {
  const bounds: Readonly<Record<string, readonly [bigint, bigint]>> = Object.fromEntries(
    [8, 16, 32, 64].flatMap((n) => [
      [`s${n}`, [-(1n << BigInt(n - 1)), (1n << BigInt(n - 1)) - 1n]],
      [`u${n}`, [0n, (1n << BigInt(n)) - 1n]],
    ]),
  );
  const directions = { rni: "rn", rzi: "rz", rmi: "rm", rpi: "rp" } as const;
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc
      .tuple(fc.integer({ min: -(2 ** 31), max: 2 ** 31 }), fc.integer({ min: -3, max: 33 }))
      .map(([n, k]) => (n / 4) * 2 ** k),
  );

  test.each(Object.keys(directions) as (keyof typeof directions)[])("%s rounds, and each type clamps", (rounding) => {
    fc.assert(
      fc.property(numbers, (x) => {
        const { n, d, negative } = Exact.of(x);
        const magnitude = roundedQuotient(n < 0n ? -n : n, d, directions[rounding], negative);
        const integer = negative ? -magnitude : magnitude;
        const integral = run(`f64.${rounding}`, x) as number;
        expect(BigInt(integral)).toBe(integer);
        expect(Object.is(integral, -0)).toBe(integer === 0n && negative);
        for (const [type, [min, max]] of Object.entries(bounds)) {
          const bits = type.endsWith("64") ? 64 : 32;
          const got = BigInt(run(`i${bits}.${type}_from_f64`, integral) as number | bigint);
          const want = [min, integer, max].sort((a, b) => (a < b ? -1 : 1))[1]!;
          expect([x, type, got]).toEqual([x, type, BigInt.asIntN(bits, want)]);
        }
      }),
      { numRuns: 1500 },
    );
  });

  test("infinities are clamped and NaN gives 0", () => {
    for (const [type, [min, max]] of Object.entries(bounds)) {
      const bits = type.endsWith("64") ? 64 : 32;
      const give = (x: number) => BigInt(run(`i${bits}.${type}_from_f64`, x) as number | bigint);
      expect([type, give(Infinity), give(-Infinity), give(NaN)]).toEqual([type, BigInt.asIntN(bits, max), min, 0n]);
    }
  });
});

describe("stochastic rounding", () => {
  // The manual's definition, on the pattern: the random bits are added to the discarded bits.
  test.each([
    ["f16", half, 13],
    ["bf16", brain, 16],
  ] as const)("%s adds the random bits to the binary32 pattern", (name, format, count) => {
    const inRange = name === "f16" ? { min: 0x3880_0000, max: 0x477f_dfff } : { min: 0x0080_0000, max: 0x7f7e_ffff };
    fc.assert(
      fc.property(fc.integer(inRange), fc.integer({ min: 0, max: 2 ** count - 1 }), (bits, random) => {
        const sum = Math.floor((bits + random) / 2 ** count) * 2 ** count;
        const want = nearest(Exact.of(singleOf(sum)), format, "rz");
        expect(run(`i32.${name}_from_f64_rs`, singleOf(bits), random)).toBe(want);
        expect(run(`i32.${name}_from_f64_rs`, -singleOf(bits), random)).toBe(want + 0x8000);
      }),
      { numRuns: 3000 },
    );
  });
});

test("every binary32 number next to a boundary of f16 and bf16 is rounded to the right side", () => {
  // The half-way point between each pattern and its upper neighbour in binary32, from the conversion of f16 itself.
  for (const [prim, back, format] of [
    ["i32.f16_from_f64_rn", "f32.from_f16", half],
    ["i32.bf16_from_f64_rn", "f32.from_bf16", brain],
  ] as const) {
    const max = 2 ** (format.exponent + format.fraction) - 2 ** format.fraction - 1;
    for (let bits = 0; bits < max; bits += 1) {
      const low = run(back, bits) as number;
      const middle = low + ((run(back, bits + 1) as number) - low) / 2;
      const even = bits + (bits & 1);
      const single = Math.fround(middle);
      if (single !== middle) continue;
      const pattern = (view.setFloat32(0, single), view.getUint32(0));
      const around = pattern === 0 ? [] : [singleOf(pattern - 1), single, singleOf(pattern + 1)];
      const want = [bits, even, bits + 1];
      around.forEach((x, i) => {
        if (run(prim, x) !== want[i]) expect.fail(`${prim} ${x}: ${run(prim, x)}, want ${want[i]}`);
      });
    }
  }
});
