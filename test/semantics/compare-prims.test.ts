import { expect, test } from "vitest";
import { type PrimName, primOf } from "../../src/semantics/index.ts";

/** Tables 23 to 25 of PTX 9.3.1.2, copied. */
const table: Readonly<Record<string, (a: number, b: number, isNan: boolean) => boolean>> = {
  eq: (a, b, isNan) => a === b && !isNan,
  ne: (a, b, isNan) => a !== b && !isNan,
  lt: (a, b, isNan) => a < b && !isNan,
  le: (a, b, isNan) => a <= b && !isNan,
  gt: (a, b, isNan) => a > b && !isNan,
  ge: (a, b, isNan) => a >= b && !isNan,
  equ: (a, b, isNan) => a === b || isNan,
  neu: (a, b, isNan) => a !== b || isNan,
  ltu: (a, b, isNan) => a < b || isNan,
  leu: (a, b, isNan) => a <= b || isNan,
  gtu: (a, b, isNan) => a > b || isNan,
  geu: (a, b, isNan) => a >= b || isNan,
  num: (_a, _b, isNan) => !isNan,
  nan: (_a, _b, isNan) => isNan,
};
const values = [NaN, -Infinity, -1.5, -(2 ** -149), -0, 0, 2 ** -149, 1, 1.5, Infinity];

test.each(Object.keys(table))("%s is what the manual's tables say", (name) => {
  for (const type of ["f32", "f64"]) {
    const compare = primOf(`${type}.cmp_${name}` as PrimName).eval as (a: number, b: number) => boolean;
    for (const a of values) {
      for (const b of values) {
        expect([type, a, b, compare(a, b)]).toEqual([
          type,
          a,
          b,
          table[name]!(a, b, Number.isNaN(a) || Number.isNaN(b)),
        ]);
      }
    }
  }
});
