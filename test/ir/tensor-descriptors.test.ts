import { describe, expect, test } from "vitest";
import { shapeProblem, tensorInstruction, tensorLayoutOf, zeroColumns } from "../../src/ir/index.ts";

/** The fields of table 45: start counts and first spans, of mask 0 first. */
function descriptor(
  starts: readonly number[],
  first: readonly number[],
  [nonZero, skip, use, shift]: readonly [number, number, number, number],
): [number, number] {
  const low = starts.reduce((word, count, i) => word | (count << (8 * i)), 0);
  const spans = first.reduce((word, span, i) => word | (span << i), 0);
  return [low, spans | (nonZero << 7) | (skip << 8) | (use << 16) | (shift << 24)];
}

/** The mask as the manual writes it, without "0b …" in front: column 0 on the right. */
const shown = (zero: readonly boolean[], from: number, count: number): string =>
  zero
    .slice(from, from + count)
    .map((bit) => (bit ? "1" : "0"))
    .reverse()
    .join("");

describe("section 9.7.16.4.3: the examples of zero-column masks", () => {
  test("1: all columns are used", () => {
    const { zero, shift } = zeroColumns(...descriptor([0, 0, 0, 0], [0, 0, 0, 0], [0, 4, 3, 0]), 128, 64);
    expect([zero.includes(true), shift]).toEqual([false, 0]);
  });
  test("2: M = 128", () => {
    const { zero } = zeroColumns(...descriptor([0], [0], [1, 2, 3, 0]), 128, 64);
    expect(shown(zero, 0, 14)).toBe("11100001110000");
  });
  test("3: M = 64", () => {
    const { zero } = zeroColumns(...descriptor([0, 0], [1, 0], [1, 2, 3, 0]), 64, 64);
    expect(shown(zero, 0, 17)).toBe("11100001110000111");
    expect(shown(zero, 32, 18)).toBe("000011100001110000");
  });
  test("4: M = 32", () => {
    const { zero, shift } = zeroColumns(...descriptor([0, 1, 2, 1], [1, 1, 0, 0], [1, 2, 3, 2]), 32, 64);
    const masks = [0, 16, 32, 48].map((from) => shown(zero, from, 16));
    expect(
      masks.map((mask, i) => mask.endsWith(["00001110000111", "0000111000011", "111000011100", "1110000111000"][i]!)),
    ).toEqual([true, true, true, true]);
    expect(shift).toBe(2);
  });
});

test("section 9.7.16.4.1: the fields of a shared memory descriptor, and those that it cannot have", () => {
  expect(tensorLayoutOf(0x0008_0040, 0x4000_4010)).toEqual({
    ...{ start: 0x400, leading: 128, stride: 256, width: 128, grain: 16, baseOffset: 0, absolute: false },
  });
  expect(tensorLayoutOf(0, 0x2004_4000)).toMatchObject({ width: 128, grain: 32, baseOffset: 2 });
  expect(tensorLayoutOf(0, 0xc010_4000 | 0)).toMatchObject({ width: 32, absolute: true });
  expect([3, 5, 7].map((mode) => typeof tensorLayoutOf(0, (mode << 29) | 0x4000))).toEqual(Array(3).fill("string"));
  expect(typeof tensorLayoutOf(0, 0)).toBe("string");
});

/** Table 39, row by row: shapes in the table, and neighbours that are not in it. */
test.each([
  [
    "f16",
    0x10,
    1,
    false,
    [
      [64, 8],
      [128, 256],
      [128, 24],
    ],
    [
      [32, 64],
      [128, 0],
      [256, 16],
    ],
  ],
  [
    "f16",
    0x10,
    2,
    false,
    [
      [128, 16],
      [256, 256],
    ],
    [
      [64, 16],
      [128, 24],
    ],
  ],
  [
    "f16",
    0x10,
    1,
    true,
    [
      [32, 64],
      [64, 128],
      [128, 256],
    ],
    [
      [32, 32],
      [128, 192],
    ],
  ],
  [
    "i8",
    0x20,
    1,
    false,
    [
      [64, 8],
      [128, 24],
      [128, 48],
    ],
    [
      [128, 40],
      [128, 56],
    ],
  ],
  [
    "i8",
    0x20,
    2,
    false,
    [
      [128, 32],
      [256, 64],
    ],
    [[128, 48]],
  ],
] as const)("section 9.7.16.2.1: shapes of %s", (kind, base, group, stationary, right, wrong) => {
  const problemOf = ([m, n]: readonly [number, number]): string | null => {
    const product = tensorInstruction(kind, base | ((n >> 3) << 17) | ((m >> 4) << 24));
    return typeof product === "string" ? product : shapeProblem(kind, product, { group, stationary });
  };
  expect(right.map(problemOf)).toEqual(right.map(() => null));
  expect(wrong.map(problemOf)).not.toContain(null);
});
