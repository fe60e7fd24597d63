import type { ElementFormat, WarpgroupProduct } from "../../src/ir/index.ts";
import { type TensorFormat, warpgroupSum } from "../../src/numeric/tensor.ts";

/** Bits of an element, where they are not 8. */
export const bitsOf: Partial<Readonly<Record<ElementFormat, number>>> = { f16: 16, bf16: 16, tf32: 32 };

/** A dense product of matrices in shared memory. `saturates`: whether sums of integers are clamped. */
export function productOf(
  a: ElementFormat,
  n: number,
  over: Partial<WarpgroupProduct>,
  saturates = false,
): WarpgroupProduct {
  const bits = bitsOf[a] ?? 8;
  const k = 256 / bits;
  const isInteger = a === "s8" || a === "u8";
  const c: ElementFormat = isInteger ? "s32" : "f32";
  return {
    tile: {
      ...{ m: 16, n, k, a, b: a, c, d: c, bits },
      rule: isInteger
        ? { kind: "integer", saturates }
        : { kind: "sum", sum: warpgroupSum(a as TensorFormat, k, false) },
      fragments: { kind: "whole" },
    },
    left: { kind: "shared", kMajor: true },
    right: { kMajor: true },
    negate: { a: false, b: false },
    sparsity: null,
    ...over,
  };
}

/** Words whose elements are from 1/4 to 4, of either sign, as halves, singles or bytes. */
export const moderate: Partial<Readonly<Record<ElementFormat, readonly [fixed: number, free: number]>>> = {
  f16: [0x3400_3400, 0x8bff_8bff],
  bf16: [0x3e80_3e80, 0x80ff_80ff],
  tf32: [0x3e80_0000, 0x80ff_ffff],
  e4m3: [0x2828_2828, 0x9797_9797],
  e5m2: [0x3434_3434, 0x8b8b_8b8b],
};
