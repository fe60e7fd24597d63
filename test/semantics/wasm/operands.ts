import type { Ty, Value } from "../../../src/semantics/index.ts";

/** Pseudorandom numbers, the same in every run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** 32 random bits, as an `i32`. */
  word(): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return t ^ (t >>> 14);
  }

  below(limit: number): number {
    return (this.word() >>> 0) % limit;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

const view = new DataView(new ArrayBuffer(8));
const single = (pattern: number): number => (view.setInt32(0, pattern), view.getFloat32(0));
const double = (pattern: bigint): number => (view.setBigInt64(0, pattern), view.getFloat64(0));

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const distinct = <T>(values: readonly T[]): T[] =>
  values.filter((v, i) => values.findIndex((w) => Object.is(v, w)) === i);

/** Both sides of every power of two, with both signs. */
const edges = (bits: number): bigint[] =>
  range(0, bits - 1).flatMap((n) => [-1n, 0n, 1n].flatMap((d) => [2n ** BigInt(n) + d, -(2n ** BigInt(n)) + d]));

const words = [
  ...range(0, 70),
  ...range(-70, -62),
  ...range(-34, -1),
  ...edges(32).map(Number),
  // Bit patterns; selections of bytes; f16 numbers; f32 numbers; modes and fields of vISA.
  ...[
    0x5555_5555, 0xaaaa_aaaa, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0xffff_0000, 0x1234_5678, 0x9e37_79b9, 0x7fff_8000,
  ],
  ...[0x3210, 0x5410, 0x7632, 0x6543, 0x4321, 0x0123, 0x7531, 0x6420, 0x8888, 0xba98, 0xfedc, 0x4440, 0x7740, 0x3340],
  ...[0x7c00, 0x7c01, 0x7e00, 0xfc00, 0xfe01, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0x3555, 0x3c00_3c00, 0x7c01_8001],
  ...[
    0x7f80_0000, 0xff80_0000, 0x7f80_0001, 0x7fc0_0000, 0xffc0_0000, 0x0080_0000, 0x007f_ffff, 0x3f80_0000, 0x7f7f_ffff,
  ],
  ...[
    0x4d0, 0x4c0, 0x4f0, 0x4e0, 0x6d0, 0x90, 0xa0, 0xb0, 0x30, 0x10, 0x1f, 0x130_0600, 0x110_0200, 0x130_0200,
    0x100_0200, 0x200_0120,
  ],
].map((v) => v | 0);

const longs = [
  ...range(-3, 70).map(BigInt),
  ...edges(64),
  ...[
    0x5555_5555_5555_5555n,
    0x0000_ffff_0000_ffffn,
    0x1234_5678_9abc_def0n,
    0x8000_0000_7fff_ffffn,
    0x1_0000_0000_0001n,
  ],
  // Numbers half-way between two of binary64, and of binary32, and their neighbours.
  ...[
    2n ** 53n + 3n,
    2n ** 62n + 2n ** 9n,
    2n ** 62n + 2n ** 9n + 1n,
    2n ** 40n + 2n ** 16n,
    2n ** 40n + 2n ** 16n - 1n,
  ],
].map((v) => BigInt.asIntN(64, v));

const plain = [
  ...[
    0,
    1,
    1.5,
    2,
    3,
    5,
    7,
    10,
    0.5,
    0.75,
    0.25,
    2.5,
    3.5,
    0.1,
    1 / 3,
    Math.PI,
    0.49999997,
    100,
    126,
    127,
    128,
    1000,
    65504,
  ],
  // The limits of integer types and of f16.
  ...[7, 8, 15, 16, 31, 32, 63, 64].flatMap((n) => [2 ** n - 1, 2 ** n - 0.5, 2 ** n, 2 ** n + 0.5, 2 ** n + 1]),
  ...[65519, 65520, 65536, 448, 464, 465, 240, 57344, 61440, 61439, 6, 6.5, 2 ** -14, 2 ** -15, 2 ** -24, 2 ** -25],
  ...[
    1 + 2 ** -11,
    1 + 3 * 2 ** -11,
    1 + 2 ** -8,
    1 + 3 * 2 ** -8,
    1 + 2 ** -10,
    2049,
    2051,
    2 ** 23 + 1,
    2 ** 24 - 1,
    2 ** 24,
  ],
  ...[2 ** 24 + 2, 2 ** -126, 2 ** -127, 2 ** -149, 2 ** -148, 2 ** 100, 2 ** -100, 2 ** 126, Infinity],
];
const singles = [
  ...plain.map(Math.fround),
  ...[0x0000_0003, 0x007f_ffff, 0x0080_0001, 0x7f7f_ffff, 0x7f7f_fffe, 0x3f80_0001, 0x3f7f_ffff, 0x3fff_ffff].map(
    single,
  ),
];
const doubles = [
  ...plain,
  ...singles.slice(-8),
  // Ties of binary32 and numbers next to them; overflow to binary32; the ends of binary64.
  ...[
    1 + 2 ** -24,
    1 + 2 ** -24 + 2 ** -52,
    1 + 3 * 2 ** -24,
    2 ** -150,
    2 ** -150 + 2 ** -202,
    3 * 2 ** -150,
    2 ** -151,
  ],
  ...[
    2 ** 128,
    2 ** 128 - 2 ** 103,
    2 ** 128 - 2 ** 103 - 2 ** 75,
    2 ** -1022,
    2 ** -1074,
    2 ** 1023,
    2 ** 53 - 1,
    2 ** 53,
    2 ** 52 + 1,
  ],
  ...[0x000f_ffff_ffff_ffffn, 0x7fef_ffff_ffff_ffffn, 0x3ff0_0000_0000_0001n, 0x3fef_ffff_ffff_ffffn].map(double),
];
const bothSigns = (values: readonly number[]): number[] => [...values.flatMap((v) => [v, -v]), NaN];

/** Values of each type around which behaviour changes. */
export const specials: Readonly<Record<Ty, readonly Value[]>> = {
  pred: [false, true],
  i32: distinct(words),
  i64: distinct(longs),
  f32: distinct(bothSigns(singles)),
  f64: distinct(bothSigns(doubles)),
};

/** Half of the numbers have any size and half are near 1: sums of numbers far apart would not test much. */
const drawn: Readonly<Record<Ty, (random: Random) => Value>> = {
  pred: (random) => random.word() < 0,
  i32: (random) => random.word() >> (random.word() < 0 ? random.below(32) : 0),
  i64: (random) =>
    BigInt.asIntN(64, (BigInt(random.word()) << 32n) ^ BigInt(random.word())) >> BigInt(random.below(64)),
  f32: (random) =>
    single(random.word() < 0 ? random.word() : (random.word() & 0x80ff_ffff) + ((123 + random.below(8)) << 23)),
  f64: (random) => {
    const high = random.word() < 0 ? random.word() : (random.word() & 0x800f_ffff) | ((0x3fa + random.below(10)) << 20);
    return double((BigInt(high) << 32n) | BigInt(random.word() >>> 0));
  },
};

export const draw = (ty: Ty, random: Random): Value => drawn[ty](random);

/** A list for each type, all of the same length: all combinations of special values, or `count` of them. */
function combinations(types: readonly Ty[], count: number, random: Random): Value[][] {
  const all = types.reduce((product, ty) => product * specials[ty].length, 1);
  let repeat = 1;
  return types.map((ty) => {
    const values = specials[ty];
    if (all > count) return Array.from({ length: count }, () => random.pick(values));
    const each = repeat;
    repeat *= values.length;
    return Array.from({ length: all }, (_, row) => values[Math.floor(row / each) % values.length]!);
  });
}

const known = new Map<string, Value[][]>();

/**
 * A column of values for each type, with a multiple of 4 rows: all combinations of the special values if there are no
 * more than `limit`, else that many of them; then `more` rows of random values.
 */
export function columnsOf(types: readonly Ty[], limit: number, more: number): Value[][] {
  const key = [...types, limit, more].join();
  const random = new Random(types.length);
  const columns =
    known.get(key) ??
    combinations(types, limit, random).map((column, i) => {
      const total = (column.length + more + 3) & ~3;
      return [...column, ...Array.from({ length: total - column.length }, () => draw(types[i]!, random))];
    });
  known.set(key, columns);
  return columns;
}
