import type { Expr, Kit } from "../../../semantics/index.ts";
import { isSigned } from "../integer/integer-type.ts";

/** The selectors of one byte or half word: `a.b2`, `d.h1`. */
export const part = /^(b[0-3]|h[01])$/;
/** The selectors of two half words of the pair `b:a`, highest element first: `a.h32`. */
export const halfSelection = /^h[0-3]{2}$/;
/** The selectors of four bytes of the pair `b:a`, highest element first: `a.b7654`. */
export const byteSelection = /^b[0-7]{4}$/;
/** The masks of half words to write: `d.h1`. */
export const halfMask = /^(h0|h1|h10)$/;
/** The masks of bytes to write: `d.b310`. */
export const byteMask = /^b(?=\d)3?2?1?0?$/;

/** A part of a word: its offset and size in bits. */
export interface BitField {
  readonly at: number;
  readonly bits: 8 | 16 | 32;
}

/** The part that `b0` to `b3`, `h0` or `h1` selects; null for the whole word. */
export function fieldOf(selector: string | null): BitField {
  if (selector === null) return { at: 0, bits: 32 };
  const bits = selector.startsWith("b") ? 8 : 16;
  return { at: Number(selector.slice(1)) * bits, bits };
}

/** A part of a word, extended according to the type to the manual's 33 bits (`i64`). */
export const extractPart = (k: Kit, a: Expr, selector: string | null, type: string): Expr => {
  const { at, bits } = fieldOf(selector);
  return k.widen(bits === 32 ? a : k.field(a, at, bits, isSigned(type)), isSigned(type));
};

/** Replaces a part of `into` by the low bits of `value`. */
export function mergePart(k: Kit, value: Expr, { at, bits }: BitField, into: Expr): Expr {
  if (bits === 32) return value;
  const mask = 2 ** bits - 1;
  const placed = k.shl(k.and(value, k.i32(mask)), k.i32(at));
  return k.or(placed, k.and(into, k.i32(~(mask << at))));
}

/** The elements of a SIMD operand, lowest first, each extended according to the type (`i32`). */
export function extractElements(k: Kit, pair: readonly [Expr, Expr], selector: string, type: string): Expr[] {
  const bits = selector.startsWith("b") ? 8 : 16;
  const perWord = 32 / bits;
  return [...selector.slice(1)].reverse().map((digit) => {
    const index = Number(digit);
    const word = pair[Math.floor(index / perWord)]!;
    return k.field(word, (index % perWord) * bits, bits, isSigned(type));
  });
}
