import {
  type ElementFormat,
  type FragmentMap,
  fragmentOf,
  type MatrixProduct,
  presentColumns,
  type ProductRule,
  type Sparsity,
} from "../ir/index.ts";
import { fma64 } from "../numeric/binary64.ts";
import { pattern32, pattern64 } from "../numeric/float-pattern.ts";
import { exactSum } from "../numeric/exact-sum.ts";
import { numberToF16 } from "../numeric/half.ts";
import { type Scale, sumOfBlocks } from "../numeric/tensor-blocks.ts";
import { hostTile, type HostTile } from "../tiles/index.ts";
import { sumOfProducts, tensorExponent, type TensorFormat, type TensorLine, tensorValue } from "../numeric/tensor.ts";
import { blockScales, type Scales } from "./block-scales.ts";

/** The scales of blocks of a row and of a column. */
type LineScales = readonly [readonly Scale[], readonly Scale[]];

type SparseProduct = MatrixProduct & { readonly sparsity: Sparsity };

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

/** Products by their tiles, if they have one, and how often each has been computed so far. */
const hosts = new WeakMap<MatrixProduct, { tile: HostTile | null; uses: number }>();

/** Products that are computed element by element before a tile is compiled, which takes as long as a few hundred. */
const fewUses = 64;

/**
 * Computes a product from registers to registers. Both have, by register, a word for each lane; of 64 bits, two. `from`
 * has A, then B, then C, then metadata and scales if the product has some.
 */
export function multiply(product: MatrixProduct, from: Int32Array, to: Int32Array): void {
  let host = hosts.get(product);
  if (host === undefined) hosts.set(product, (host = { tile: null, uses: 0 }));
  if (++host.uses === fewUses) host.tile = hostTile(product);
  if (host.tile?.multiply(from, to) !== true) multiplyElements(product, from, to);
}

/** The same, element by element: the reference for all others. */
export function multiplyElements(product: MatrixProduct, from: Int32Array, to: Int32Array): void {
  const [a, b, c, d] = (["a", "b", "c", "d"] as const).map((name) => fragmentOf(product, name)) as [
    FragmentMap,
    FragmentMap,
    FragmentMap,
    FragmentMap,
  ];
  const [afterA, afterB] = [wordsOf(a), wordsOf(a) + wordsOf(b)];
  readFragment(a, product.a, from, 0, left, false);
  readFragment(b, product.b, from, afterA, right, true);
  readFragment(c, product.c, from, afterB, accumulator, false);
  const { values } = accumulator;
  const { m, n, sparsity } = product;
  const further = from.subarray(afterB + wordsOf(c));
  const scales = product.scales === undefined ? null : blockScales(product, further, sparsity === undefined ? 0 : 32);
  if (scales !== null && product.rule.kind === "sum") scaleRows(product, scales, a.columns);
  for (let row = 0; row < m * c.products; row++) {
    left.at = row * a.columns;
    const firstColumn = Math.floor(row / m) * n;
    const columns = sparsity === undefined ? right : presentRows({ ...product, sparsity }, row, further);
    for (let column = 0; column < n; column++) {
      columns.at = sparsity === undefined ? (firstColumn + column) * a.columns : column * a.columns;
      const cell = row * n + column;
      const own = scales && ([scales.a[row]!, scales.b[column]!] as const);
      values[cell] = addProducts(left, columns, a.columns, values[cell]!, product.rule, own);
    }
  }
  writeFragment(d, product.d, values, to);
}

/** The accumulator after `count` products of elements of a row and a column, scaled or not, have been added to it. */
export function addProducts(
  row: Matrix,
  column: Matrix,
  count: number,
  start: number,
  rule: ProductRule,
  scales: LineScales | null = null,
): number {
  const [i, j] = [row.at, column.at];
  let total = start;
  switch (rule.kind) {
    case "sum":
      return sumOfProducts(row, column, count, start, rule.sum);
    case "exact":
      return exactSum(exactTerms(row, column, count, start, scales));
    case "blocks": {
      const [a, b] = scales!.map(
        (list) => (block: number) => list[Math.floor((block * rule.sum.products * list.length) / count)]!,
      );
      return sumOfBlocks(row, column, count, start, [a!, b!], rule.sum);
    }
    case "chain":
      for (let e = 0; e < count; e++) total = fma64(row.values[i + e]!, column.values[j + e]!, total, rule.rounding);
      return total;
    case "integer":
      for (let e = 0; e < count; e++) total += row.values[i + e]! * column.values[j + e]!;
      return rule.saturates ? Math.min(Math.max(total, -0x8000_0000), 0x7fff_ffff) : total;
    case "bits": {
      const both = rule.combine === "and" ? 2 : 1;
      for (let e = 0; e < count; e++) if (row.values[i + e]! + column.values[j + e]! === both) total++;
      return total;
    }
  }
}

/** The accumulator and all products, scaled. */
function* exactTerms(
  row: Matrix,
  column: Matrix,
  count: number,
  start: number,
  scales: LineScales | null,
): Iterable<number> {
  yield start;
  for (let e = 0; e < count; e++) {
    const scale = scales === null ? 1 : scaleAt(scales[0], e, count) * scaleAt(scales[1], e, count);
    yield row.values[row.at + e]! * column.values[column.at + e]! * scale;
  }
}

/** The scale of a product. */
const scaleAt = (scales: readonly Scale[], e: number, count: number): number =>
  scales[Math.floor((e * scales.length) / count)]!.value;

const present = new Matrix(8192);

/** Of each column of B the elements by which those of a row of A are multiplied that are present. */
function presentRows(product: SparseProduct, row: number, further: Int32Array): Matrix {
  const { k, n } = product;
  const chosen = presentColumns(product, row, (lane) => further[lane]!);
  for (let column = 0; column < n; column++) {
    chosen.forEach((e, i) => {
      present.values[column * chosen.length + i] = right.values[column * k + e]!;
      present.exponents[column * chosen.length + i] = right.exponents[column * k + e]!;
    });
  }
  return present;
}

/** Multiplies A and B by scales that are powers of two, of which each row and column has one. */
function scaleRows({ k }: MatrixProduct, scales: Scales, present: number): void {
  for (const [row, [scale]] of scales.a.entries()) scaleLine(left, row * present, present, scale!);
  for (const [column, [scale]] of scales.b.entries()) scaleLine(right, column * k, k, scale!);
}

function scaleLine({ values, exponents }: Matrix, at: number, count: number, { value, exponent }: Scale): void {
  for (let e = at; e < at + count; e++) {
    // A zero aligns nothing, whatever its scale.
    exponents[e] = values[e] === 0 ? unimportant : exponents[e]! + exponent;
    values[e] = values[e]! * value;
  }
}

/** An exponent below those of all products. */
const unimportant = -1000;

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
    const pattern = (from[at + Math.floor(index / parts)]! >>> shift) & mask(bits);
    putElement(matrix, place, format, unboxed(format, bits, pattern));
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

/** An element as its format has it: in a container of 8 bits an e2m1 is in the middle. */
const unboxed = (format: ElementFormat, bits: number, pattern: number): number =>
  format === "e2m1" && bits === 8 ? pattern >> 2 : pattern;

function elementValue(format: ElementFormat, pattern: number): number {
  const integer = integerFormats[format];
  if (integer !== undefined) return integer(pattern);
  if (format === "f32" || format === "f64") {
    i32[0] = pattern;
    return f32[0]!;
  }
  return tensorValue(format as TensorFormat, pattern);
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
