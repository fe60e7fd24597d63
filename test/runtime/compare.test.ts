import { describe, expect, test } from "vitest";
import { Elements, type ElementType } from "../../src/runtime/data/element.ts";
import { compareElements } from "../../src/runtime/job/compare.ts";
import type { Comparison } from "../../src/runtime/job/job-check.ts";

function of(type: ElementType, values: readonly (number | bigint)[]): Elements {
  const elements = Elements.zeros(type, values.length);
  values.forEach((value, i) => {
    elements.set(i, value);
  });
  return elements;
}

const exact: Comparison = {
  kind: "exact",
  anyNan: false,
  anyZero: false,
  records: null,
  skip: new Set(),
  alternatives: new Map(),
};

describe("exact", () => {
  test("counts what differs and shows the first", () => {
    expect(compareElements(of("s32", [1, 2, -3, 4]), of("s32", [1, 5, -3, 6]), exact)).toEqual({
      mismatches: 2,
      first: { index: 1, got: 2, want: 5 },
    });
  });

  test("compares bits: the sign of zero and the payload of NaN count, unless they may be any", () => {
    const got = new Elements("f32", new Uint8Array([0, 0, 0, 0x80, 1, 0, 0xc0, 0x7f]));
    const want = of("f32", [0, NaN]);
    expect(compareElements(got, want, exact).mismatches).toBe(2);
    expect(compareElements(got, want, { ...exact, anyZero: true }).first?.index).toBe(1);
    expect(compareElements(got, want, { ...exact, anyNan: true }).first?.index).toBe(0);
    expect(compareElements(got, want, { ...exact, anyNan: true, anyZero: true }).mismatches).toBe(0);
    expect(compareElements(of("f32", [1]), of("f32", [NaN]), { ...exact, anyNan: true }).mismatches).toBe(1);
  });

  test("bytes outside the ranges of a record are not compared", () => {
    const records = {
      period: 4,
      ranges: [
        [0, 1],
        [2, 4],
      ],
    } as const;
    const want = of("u8", [1, 2, 3, 4, 5, 6, 7, 8]);
    expect(compareElements(of("u8", [1, 9, 3, 4, 5, 9, 7, 8]), want, { ...exact, records }).mismatches).toBe(0);
    expect(compareElements(of("u8", [1, 9, 3, 4, 5, 9, 7, 9]), want, { ...exact, records }).first?.index).toBe(7);
  });
});

test("tolerance: |got - want| <= atol + rtol |want|, and what is not finite must be the same", () => {
  const near = (got: number[], want: number[], relative: number, absolute: number) =>
    compareElements(of("f64", got), of("f64", want), { kind: "tolerance", relative, absolute }).mismatches;
  expect(near([101], [100], 0.01, 0)).toBe(0);
  expect(near([101.1], [100], 0.01, 0)).toBe(1);
  expect(near([0.5], [0], 0.1, 0.5)).toBe(0);
  expect(near([Infinity, -Infinity, NaN], [Infinity, -Infinity, NaN], 0, 0)).toBe(0);
  expect(near([Infinity, -Infinity, NaN, 1], [1, Infinity, 1, NaN], 1, 1)).toBe(4);
});

test("sorted: the order does not matter, the number of occurrences does", () => {
  const sorted: Comparison = { kind: "sorted" };
  expect(compareElements(of("s32", [3, -1, 2]), of("s32", [-1, 2, 3]), sorted).mismatches).toBe(0);
  expect(compareElements(of("u64", [3n, 1n, 1n]), of("u64", [3n, 3n, 1n]), sorted).mismatches).toBe(1);
});
