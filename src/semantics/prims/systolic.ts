import { bf16ToNumber, f16ToNumber } from "../../numeric/half.ts";
import { fromPattern32 } from "../../numeric/float-pattern.ts";
import { minifloatToNumber, minifloats } from "../../numeric/minifloat.ts";
import { sumToOdd } from "../../numeric/sum.ts";
import { prim, type PrimTable } from "../prim.ts";
import { dotPacked, dotPackedFloats } from "./systolic-wasm.ts";

/**
 * Extracts element `index` of a word as a number. `field` holds the position of element 0 in bits 0-5, the width of an
 * element in bits 6-9 (1 to 8), and whether it is signed in bit 10.
 */
function element(word: number, field: number, index: number): number {
  const count = (field >> 6) & 15;
  const left = word << (32 - count - (((field & 63) + index * count) & 31));
  return field & 0x400 ? left >> (32 - count) : left >>> (32 - count);
}

const decoders: readonly ((pattern: number) => number)[] = [
  bf16ToNumber,
  f16ToNumber,
  (pattern) => fromPattern32(pattern & ~0x1fff),
  (pattern) => minifloatToNumber(pattern, minifloats.e5m2),
  (pattern) => minifloatToNumber(pattern, minifloats.e4m3),
  (pattern) => minifloatToNumber(pattern, minifloats.e2m1),
];
const widths = [16, 16, 32, 8, 8, 4];

/** The formats of `f32.dot_packed`, by number. */
export const packedFormats = ["bf", "hf", "tf32", "bf8", "hf8", "e2m1"] as const;

/** The last operand of `i32.dot_packed` for four bytes of each word. */
export const fieldsOfBytes = (isSignedA: boolean, isSignedB: boolean): number => {
  const field = (isSigned: boolean): number => (8 << 6) | (isSigned ? 0x400 : 0);
  return field(isSignedA) | (field(isSignedB) << 11) | (4 << 22);
};

function dotFloat(sum: number, a: number, b: number, formats: number): number {
  const left = formats & 7;
  const right = (formats >> 3) & 7;
  const width = widths[left] ?? 32;
  const terms = [sum];
  for (let at = 0; at < 32; at += width) {
    const x = decoders[left]?.(width === 32 ? a : (a >>> at) & (2 ** width - 1)) ?? 0;
    const y = decoders[right]?.(width === 32 ? b : (b >>> at) & (2 ** width - 1)) ?? 0;
    terms.push(x * y);
  }
  return Math.fround(sumToOdd(terms));
}

/** Dot products of the elements packed in two words, added to an accumulator. */
export const systolicPrims = {
  /**
   * The last operand holds the field of the first word (`element`) in bits 0-10, that of the second word in bits 11-21,
   * and the number of elements in bits 22-25.
   */
  "i32.dot_packed": prim(
    ["i32", "i32", "i32", "i32"],
    "i32",
    (sum, a, b, fields) => {
      let result = sum;
      const count = (fields >> 22) & 15;
      for (let i = 0; i < count; i++) result += element(a, fields & 0x7ff, i) * element(b, (fields >> 11) & 0x7ff, i);
      return result | 0;
    },
    dotPacked,
  ),
  /**
   * Multiplies all elements of the words, with a single rounding to nearest. The last operand is the index in
   * `packedFormats` of a's format plus 8 times that of b's.
   */
  "f32.dot_packed": prim(["f32", "i32", "i32", "i32"], "f32", dotFloat, dotPackedFloats),
} as const satisfies PrimTable;
