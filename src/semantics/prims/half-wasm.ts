import { type Lanes, type Wasm, wasm } from "../../wasm/index.ts";
import type { Expansion } from "../expansion.ts";
import { byParts } from "../form.ts";
import { floatPrims } from "./float.ts";
import { fmaToOdd, oddIn32 } from "./rounding-wasm.ts";
import { bf16, decoded, encoded, f16, type ShortFloat } from "./short-float-wasm.ts";

/** Arithmetic on patterns by an operation on binary32 numbers, which have more than twice the digits. */
const arithmetic = (format: ShortFloat) => {
  const through32 = (operation: (s: Lanes, ...operands: Wasm[]) => Wasm): Expansion => ({
    expand: ({ singles: s }, ...operands) =>
      encoded(s, operation(s, ...operands.map((bits) => decoded(s, bits, format))), format),
  });
  return {
    add: through32((s, a, b) => s.add(a, b)),
    sub: through32((s, a, b) => s.sub(a, b)),
    mul: through32((s, a, b) => s.mul(a, b)),
    fma: through32((s, a, b, c) => fmaToOdd(s, a, b, c)),
  };
};

export const emitF16 = arithmetic(f16);
export const emitBf16 = {
  ...arithmetic(bf16),
  /**
   * The product may overflow or lose bits in binary32, so the multiply-add is fused there; a result that ends half-way
   * between two bf16 numbers is recomputed with doubles.
   */
  fma: {
    expand: (form, ...patterns) => {
      const { singles: s, doubles: d } = form;
      const operands = patterns.map((bits) => decoded(s, bits, bf16));
      const fused = floatPrims["f32.fma"].wasm[form.name]!(...operands);
      const halfWay = s.same(s.and(s.bits(fused), s.integer(0xffffn)), s.integer(0x8000n));
      const exact = byParts(operands.map(form.widened), (a, b, c) => fmaToOdd(d, a, b, c));
      return encoded(s, wasm.if(s.any(halfWay), oddIn32(form, exact), fused), bf16);
    },
  } satisfies Expansion,
};
