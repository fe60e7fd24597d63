import type { Expr, Kit } from "../../../semantics/index.ts";
import { isSigned } from "../integer/integer-type.ts";

/** `a.b2`, `d.h1`: one byte or half word of a word. */
export const part = /^(b[0-3]|h[01])$/;
/** `a.h32`: for each of two elements, highest first, which half word of the pair `b:a`. */
export const halfSelection = /^h[0-3]{2}$/;
/** `a.b7654`: for each of four elements, highest first, which byte of the pair `b:a`. */
export const byteSelection = /^b[0-7]{4}$/;
/** `d.h1`: the half words that are written. */
export const halfMask = /^(h0|h1|h10)$/;
/** `d.b310`: the bytes that are written. */
export const byteMask = /^b(?=\d)3?2?1?0?$/;

/** Where a selected part lies in its word, in bits. */
export interface Place {
  readonly at: number;
  readonly bits: 8 | 16 | 32;
}

/** The place that `b0` to `b3`, `h0` or `h1` names; null is the whole word. */
export function placeOf(selector: string | null): Place {
  if (selector === null) return { at: 0, bits: 32 };
  const bits = selector.startsWith("b") ? 8 : 16;
  return { at: Number(selector.slice(1)) * bits, bits };
}

/** A part of a word, extended by the type to the 33 bits of the manual (`i64`). */
export const extractPart = (k: Kit, a: Expr, selector: string | null, type: string): Expr => {
  const { at, bits } = placeOf(selector);
  return k.widen(bits === 32 ? a : k.field(a, at, bits, isSigned(type)), isSigned(type));
};

/** `into` with the low bits of `value` in place of the part. */
export function mergePart(k: Kit, value: Expr, { at, bits }: Place, into: Expr): Expr {
  if (bits === 32) return value;
  const mask = 2 ** bits - 1;
  const placed = k.shl(k.and(value, k.i32(mask)), k.i32(at));
  return k.or(placed, k.and(into, k.i32(~(mask << at))));
}

/** The elements of a SIMD operand, lowest first, each extended by the type (`i32`). */
export function extractElements(k: Kit, pair: readonly [Expr, Expr], selector: string, type: string): Expr[] {
  const bits = selector.startsWith("b") ? 8 : 16;
  const perWord = 32 / bits;
  return [...selector.slice(1)].reverse().map((digit) => {
    const index = Number(digit);
    const word = pair[Math.floor(index / perWord)]!;
    return k.field(word, (index % perWord) * bits, bits, isSigned(type));
  });
}
