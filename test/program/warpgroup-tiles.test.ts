import { describe, expect, test } from "vitest";
import { layoutOf, type SharedMatrixLayout, type SwizzleWidth } from "../../src/ir/index.ts";
import type { ReadChunks, WarpgroupInputs } from "../../src/program/warpgroup-inputs.ts";
import { multiplyElements } from "../../src/program/warpgroup-product.ts";
import { multiplyTiles } from "../../src/program/warpgroup-tiles.ts";
import { randomWords } from "../random-words.ts";
import { bitsOf, moderate, productOf } from "../tiles/warpgroup-product.ts";

/* Products by tiles against those that are computed element by element, on any bits and on numbers of like size. */

const mode: Readonly<Record<SwizzleWidth, number>> = { 16: 0, 128: 1, 64: 2, 32: 3 };
/** Strides that leave gaps, and no two chunks at the same place. */
const layout = (width: SwizzleWidth, start: number): SharedMatrixLayout =>
  layoutOf((start >> 4) | ((6 * 1024) << 12), ((2 * 1024) >> 4) | (mode[width] << 30));

const formats = ["f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"] as const;

describe.each(formats)("%s", (format) => {
  const next = randomWords(formats.indexOf(format) + 77);
  const shared = new Int32Array(1 << 18);
  const read: ReadChunks = (addresses, count, into) => {
    for (let i = 0; i < count; i++) into.set(shared.subarray(addresses[i]! >> 2, (addresses[i]! >> 2) + 4), 4 * i);
  };
  const [fixed, free] = moderate[format] ?? [0, -1];
  const sixteenBits = bitsOf[format] === 16;
  const cases = ([16, 32, 64, 128] as const).flatMap((width, i) =>
    [true, false].flatMap((kMajor) =>
      !kMajor && !sixteenBits ? [] : [{ width, kMajor, n: [8, 24, 64, 256][i]!, registers: i % 2 === 1 }],
    ),
  );

  test.each(cases)("$n columns, $width bytes, k fastest: $kMajor", ({ width, kMajor, n, registers }) => {
    const product = productOf(
      format,
      n,
      {
        left: registers ? { kind: "registers" } : { kind: "shared", kMajor },
        right: { kMajor },
        // Only floats are negated.
        negate: { a: n === 64 && format in moderate, b: n === 256 && format in moderate },
      },
      n === 24,
    );
    let taken = 0;
    for (let round = 0; round < 80; round++) {
      // Any bits in each eighth round.
      const anything = round % 8 === 7;
      for (let i = 0; i < shared.length; i++) shared[i] = anything ? next() : (next() & free) | fixed;
      const words = (count: number): Int32Array =>
        Int32Array.from({ length: count }, () => (anything ? next() : (next() & free) | fixed));
      const inputs: WarpgroupInputs = {
        warp: round % 4,
        a: registers ? words(128) : layout(width, 1024),
        b: layout(width, 128 * 1024),
        metadata: null,
        c: Int32Array.from({ length: 16 * n }, () => (anything ? next() : (next() & 0x81ff_ffff) | 0x3e00_0000)),
      };
      const [expected, found] = [new Int32Array(16 * n), new Int32Array(16 * n)];
      multiplyElements(product, inputs, read, expected);
      if (!multiplyTiles(product, inputs, read, found)) continue;
      taken++;
      expect(found).toEqual(expected);
    }
    expect(taken).toBeGreaterThan(10);
  });
});
