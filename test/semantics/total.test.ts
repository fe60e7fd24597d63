import fc from "fast-check";
import { expect, test } from "vitest";
import { type Prim, prims, type Ty, type Value } from "../../src/semantics/index.ts";

const corners32 = [0, 1, -1, 2, 31, 32, 33, 63, 64, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, -0x8000_0000];
const corners64 = [0n, 1n, -1n, 63n, 64n, 0x7fff_ffffn, 0xffff_ffffn, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
const single = fc.oneof(
  fc.float(),
  fc.constantFrom(0, -0, 0.5, -1.5, 2 ** 31, 2 ** 32, -(2 ** 31), 2 ** 63, 2 ** 64, NaN, Infinity, -Infinity),
);
const values: Readonly<Record<Ty, fc.Arbitrary<Value>>> = {
  pred: fc.boolean(),
  i32: fc.oneof(fc.integer(), fc.constantFrom(...corners32)),
  i64: fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.constantFrom(...corners64)),
  f32: single,
  f64: fc.oneof(fc.double(), single, fc.constantFrom(2 ** 31 - 0.5, 2 ** 52 + 0.5, -(2 ** 63) - 2 ** 11)),
};

/** Whether a value is valid for the type (see `HostValue`). */
const isOf: Readonly<Record<Ty, (value: Value) => boolean>> = {
  pred: (value) => typeof value === "boolean",
  i32: (value) => typeof value === "number" && Object.is(value, value | 0),
  i64: (value) => typeof value === "bigint" && BigInt.asIntN(64, value) === value,
  f32: (value) => typeof value === "number" && Object.is(value, Math.fround(value)),
  f64: (value) => typeof value === "number",
};

const table: readonly (readonly [string, Prim])[] = Object.entries(prims);

test.each(table)("%s gives a value of its type for all operands, and the same value again", (_, prim) => {
  const evaluate = prim.eval as (...args: Value[]) => Value;
  fc.assert(
    fc.property(fc.tuple(...prim.params.map((ty) => values[ty])), (args) => {
      const value = evaluate(...args);
      expect(value).toSatisfy(isOf[prim.result]);
      expect(evaluate(...args)).toBe(value);
    }),
    { numRuns: 200 },
  );
});
