import { type ElementFormat, type FragmentMap, fragmentOf, type MatrixProduct, type ProductRule } from "../ir/index.ts";
import { fma64 } from "../numeric/binary64.ts";
import { pattern32, pattern64 } from "../numeric/float-pattern.ts";
import { numberToF16 } from "../numeric/half.ts";
import { sumOfProducts, tensorExponent, type TensorFormat, type TensorLine, tensorValue } from "../numeric/tensor.ts";

/** Words of the registers of a warp that a product may need: a register has 32, or 64 if it has 64 bits. */
export const productWords = 32 * 32;

const f32 = new Float32Array(1);
const i32 = new Int32Array(f32.buffer);
const f64 = new Float64Array(1);
const halves = new Int32Array(f64.buffer);

/** A matrix, row after row, or, of B, column after column; where a warp has several, one after the other. */
export class Matrix implements TensorLine {
  /** The row or column that is multiplied. */
  at = 0;
  readonly values: Float64Array;
  readonly exponents: Int32Array;

  constructor(elements: number) {
    this.values = new Float64Array(elements);
    this.exponents = new Int32Array(elements);
  }
}

const [left, right, accumulator] = [new Matrix(8192), new Matrix(8192), new Matrix(8192)];

/**
 * Computes a product from registers to registers. Both have, by register, a word for each lane; of 64 bits, two. `from`
 * has A, then B, then C.
 */
export function multiply(product: MatrixProduct, from: Int32Array, to: Int32Array): void {
  const [a, b, c, d] = (["a", "b", "c", "d"] as const).map((name) => fragmentOf(product, name)) as [
    FragmentMap,
    FragmentMap,
    FragmentMap,
    FragmentMap,
  ];
  const { m, n, k, rule } = product;
  const [afterA, afterB] = [wordsOf(a), wordsOf(a) + wordsOf(b)];
  readFragment(a, product.a, from, 0, left, false);
  readFragment(b, product.b, from, afterA, right, true);
  readFragment(c, product.c, from, afterB, accumulator, false);
  const { values } = accumulator;
  for (let cell = 0; cell < m * n * c.products; cell++) {
    left.at = Math.floor(cell / n) * k;
    right.at = (Math.floor(cell / (m * n)) * n + (cell % n)) * k;
    values[cell] = addProducts(left, right, k, values[cell]!, rule);
  }
  writeFragment(d, product.d, values, to);
}

/** The accumulator after `k` products of elements of a row and a column have been added to it. */
export function addProducts(left: Matrix, right: Matrix, k: number, start: number, rule: ProductRule): number {
  const [i, j] = [left.at, right.at];
  let total = start;
  switch (rule.kind) {
    case "sum":
      return sumOfProducts(left, right, k, start, rule.sum);
    case "chain":
      for (let e = 0; e < k; e++) total = fma64(left.values[i + e]!, right.values[j + e]!, total, rule.rounding);
      return total;
    case "integer":
      for (let e = 0; e < k; e++) total += left.values[i + e]! * right.values[j + e]!;
      return rule.saturates ? Math.min(Math.max(total, -0x8000_0000), 0x7fff_ffff) : total;
    case "bits": {
      const both = rule.combine === "and" ? 2 : 1;
      for (let e = 0; e < k; e++) if (left.values[i + e]! + right.values[j + e]! === both) total++;
      return total;
    }
  }
}

const wordsOf = ({ registers, registerBits }: FragmentMap): number => registers * registerBits;

/** Reads a fragment, whose registers begin at a word, into a matrix. */
export function readFragment(
  map: FragmentMap,
  format: ElementFormat,
  from: Int32Array,
  at: number,
  matrix: Matrix,
  byColumn: boolean,
): void {
  const { bits, elements, rows, columns } = map;
  const parts = bits === 64 ? 1 : 32 / bits;
  elements.forEach((element, index) => {
    const place = byColumn ? transposed(element, rows, columns) : element;
    if (bits === 64) {
      halves[0] = from[at + 2 * index]!;
      halves[1] = from[at + 2 * index + 1]!;
      matrix.values[place] = f64[0]!;
      return;
    }
    const shift = (index % parts) * bits;
    putElement(matrix, place, format, (from[at + Math.floor(index / parts)]! >>> shift) & mask(bits));
  });
}

/** Puts the value of a pattern of up to 32 bits into a matrix, with the exponent by which it counts. */
export function putElement({ values, exponents }: Matrix, place: number, format: ElementFormat, pattern: number): void {
  const value = elementValue(format, pattern);
  values[place] = value;
  if (isTensorFormat(format)) exponents[place] = tensorExponent(format, value);
}

/** The bits of an element at the lower end of a word. */
export const mask = (bits: number): number => (bits === 32 ? -1 : (1 << bits) - 1);

/** The place of an element, where matrices have one column after the other. */
function transposed(element: number, rows: number, columns: number): number {
  const inside = element % (rows * columns);
  return element - inside + (inside % columns) * rows + Math.floor(inside / columns);
}

const integerFormats: Readonly<Record<string, (pattern: number) => number>> = {
  s32: (pattern) => pattern | 0,
  s8: (pattern) => (pattern << 24) >> 24,
  u8: (pattern) => pattern,
  s4: (pattern) => (pattern << 28) >> 28,
  u4: (pattern) => pattern,
  b1: (pattern) => pattern,
};

const isTensorFormat = (format: ElementFormat): format is TensorFormat =>
  format !== "f64" && format !== "f32" && !(format in integerFormats);

function elementValue(format: ElementFormat, pattern: number): number {
  const integer = integerFormats[format];
  if (integer !== undefined) return integer(pattern);
  if (format === "f32" || format === "f64") {
    i32[0] = pattern;
    return f32[0]!;
  }
  // In a container of 8 bits an e2m1 is in the middle.
  return tensorValue(format as TensorFormat, format === "e2m1" ? pattern >> 2 : pattern);
}

/** Writes a matrix to the registers of a fragment. */
export function writeFragment(map: FragmentMap, format: ElementFormat, values: Float64Array, to: Int32Array): void {
  const { bits, elements } = map;
  if (bits === 64) {
    elements.forEach((element, index) => {
      const pattern = pattern64(values[element]!);
      to[2 * index] = Number(BigInt.asIntN(32, pattern));
      to[2 * index + 1] = Number(pattern >> 32n);
    });
    return;
  }
  const patternOf = format === "f16" ? numberToF16 : format === "s32" ? (value: number) => value | 0 : pattern32;
  const parts = 32 / bits;
  for (let index = 0; index < elements.length; index += parts) {
    let word = 0;
    for (let part = 0; part < parts; part++) word |= patternOf(values[elements[index + part]!]!) << (part * bits);
    to[index / parts] = word;
  }
}
