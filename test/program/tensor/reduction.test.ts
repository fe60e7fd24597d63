import { expect, test } from "vitest";
import type { ReducedType, Reduction } from "../../../src/ir/index.ts";
import { reduceBytes, reduces } from "../../../src/program/tensor/reduction.ts";

const bytesOf = (array: ArrayBufferView): Uint8Array => new Uint8Array(array.buffer);

/** Operation, type, target, source, result: from the manual's words, as patterns. */
const cases: readonly (readonly [
  Reduction,
  ReducedType,
  ArrayBufferView,
  ArrayBufferView,
  readonly (number | bigint)[],
])[] = [
  ["add", "u32", Uint32Array.of(1, 0xffff_ffff), Uint32Array.of(2, 2), [3, 1]],
  ["min", "s32", Uint32Array.of(0xffff_ffff, 5), Uint32Array.of(3, 4), [0xffff_ffff, 4]],
  ["min", "u32", Uint32Array.of(0xffff_ffff, 5), Uint32Array.of(3, 6), [3, 5]],
  ["max", "s32", Uint32Array.of(0xffff_ffff, 5), Uint32Array.of(3, 4), [3, 5]],
  // "The .inc and .dec operations return a result in the range [0..x] where x is the value at the source".
  ["inc", "u32", Uint32Array.of(0, 7, 8, 9), Uint32Array.of(8, 8, 8, 8), [1, 8, 0, 0]],
  ["dec", "u32", Uint32Array.of(0, 1, 8, 9), Uint32Array.of(8, 8, 8, 8), [8, 0, 7, 8]],
  ["and", "b32", Uint32Array.of(0xf0f0_f0f0), Uint32Array.of(0xff00_ff00), [0xf000_f000]],
  ["or", "b32", Uint32Array.of(0xf0f0_f0f0), Uint32Array.of(0xff00_ff00), [0xfff0_fff0]],
  ["xor", "b32", Uint32Array.of(0xf0f0_f0f0), Uint32Array.of(0xff00_ff00), [0x0ff0_0ff0]],
  ["xor", "b64", BigUint64Array.of(1n << 63n), BigUint64Array.of(3n), [(1n << 63n) | 3n]],
  ["add", "u64", BigUint64Array.of(2n ** 64n - 1n), BigUint64Array.of(2n), [1n]],
  ["max", "s64", BigInt64Array.of(-1n), BigInt64Array.of(1n), [1n]],
  ["max", "u64", BigInt64Array.of(-1n), BigInt64Array.of(1n), [2n ** 64n - 1n]],
  // 1 + 2^-11 is a tie in f16, and goes to even; subnormal numbers stay.
  ["add", "f16", Uint16Array.of(0x3c00, 0x0001, 0x7c00), Uint16Array.of(0x1000, 0x0001, 0xfc00), [0x3c00, 2, 0x7fff]],
  ["add", "bf16", Uint16Array.of(0x3f80, 0x0001), Uint16Array.of(0x3f80, 0x0001), [0x4000, 2]],
  [
    "min",
    "f16",
    Uint16Array.of(0x0000, 0x7e00, 0x3c00),
    Uint16Array.of(0x8000, 0x3c00, 0x4000),
    [0x8000, 0x3c00, 0x3c00],
  ],
  ["max", "bf16", Uint16Array.of(0x8000, 0xbf80), Uint16Array.of(0x0000, 0x3f80), [0x0000, 0x3f80]],
  ["add", "f32", Uint32Array.of(0x3f80_0000, 1), Uint32Array.of(0x3f80_0000, 1), [0x4000_0000, 2]],
  // Subnormal inputs and results become zeros with their sign.
  [
    "add",
    "f32ftz",
    Uint32Array.of(1, 0x8000_0001, 0x0080_0000),
    Uint32Array.of(1, 0x8000_0001, 0x8080_0001),
    [0, 0x8000_0000, 0x8000_0000],
  ],
  ["add", "f32", Uint32Array.of(0x7f80_0000), Uint32Array.of(0xff80_0000), [0x7fff_ffff]],
  ["add", "f64", Float64Array.of(0.1), Float64Array.of(0.2), [0x3fd3_3333_3333_3334n]],
];

test.each(cases)("%s.%s of %o and %o", (op, type, target, source, expected) => {
  const bytes = bytesOf(target);
  reduceBytes(op, type, bytes, bytesOf(source));
  const width = bytes.length / expected.length;
  const view = new DataView(bytes.buffer);
  const found = expected.map((_, i) => {
    if (width === 8) return view.getBigUint64(8 * i, true);
    return width === 4 ? view.getUint32(4 * i, true) : view.getUint16(2 * i, true);
  });
  expect(found).toEqual(expected);
});

test("tensors are reduced by the types that the manual lists", () => {
  expect(reduces("add", "f32")).toBe(true);
  expect(reduces("add", "s64")).toBe(false);
  expect(reduces("min", "f32")).toBe(false);
  expect(reduces("inc", "u32")).toBe(true);
  expect(reduces("add", "16u4_align8b")).toBe(false);
});
