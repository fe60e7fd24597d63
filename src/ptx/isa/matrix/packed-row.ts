import { type Expr, kit } from "../../../semantics/index.ts";

const bitsOf: Readonly<Record<string, number>> = { b4x16_p64: 4, b6x16_p32: 6 };

/**
 * The four words of a row of 16 bytes, of which each element has become a byte: the 16 elements of 4 or 6 bits that a
 * source format packs into the row's beginning, with zeros above. Without a format the same words.
 */
export function unpackedRow(words: readonly Expr[], format: string | undefined): readonly Expr[] {
  const bits = format === undefined ? undefined : bitsOf[format];
  if (bits === undefined) return words;
  return [0, 1, 2, 3].map((word) =>
    [0, 1, 2, 3]
      .map((i) => kit.shl(field(words, (4 * word + i) * bits, bits), kit.i32(8 * i)))
      .reduce((a, b) => kit.or(a, b)),
  );
}

/** Bits of a list of words, which may lie in two of them. */
function field(words: readonly Expr[], at: number, bits: number): Expr {
  const shift = at % 32;
  const low = kit.shr(words[Math.floor(at / 32)]!, kit.i32(shift), false);
  const value = shift + bits <= 32 ? low : kit.or(low, kit.shl(words[Math.floor(at / 32) + 1]!, kit.i32(32 - shift)));
  return kit.and(value, kit.i32(2 ** bits - 1));
}
