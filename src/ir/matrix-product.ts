import type { TensorFormat, TensorSum } from "../numeric/tensor.ts";
import type { BlockScales } from "./block-scales.ts";
import type { Sparsity } from "./sparse-metadata.ts";

/** The format of an element of a matrix. */
export type ElementFormat = TensorFormat | "f32" | "f64" | "s32" | "s8" | "u8" | "s4" | "u4" | "b1";

/** How products are formed and added. */
export type ProductRule =
  /** Of floats of up to 32 bits. */
  | { readonly kind: "sum"; readonly sum: TensorSum }
  /** Of floats of 4 bits with scales: sums of groups are scaled, then added (`sumOfScaledGroups`). */
  | { readonly kind: "groups" }
  /** Of floats of up to 32 bits, on request: the exact sum, rounded once, to nearest even. */
  | { readonly kind: "exact" }
  /** Of doubles: a chain of fused multiply-adds, k ascending. */
  | { readonly kind: "chain"; readonly rounding: "rn" | "rz" | "rm" | "rp" }
  /** Of integers: exact. The result is clamped, or wraps. */
  | { readonly kind: "integer"; readonly saturates: boolean }
  /** Of single bits: the number of ones in a combination of a row and a column. */
  | { readonly kind: "bits"; readonly combine: "and" | "xor" };

/**
 * How products of matrices of floats of up to 32 bits are summed: as matrix units do, in the order and with the
 * truncation that the literature has found, or exactly, rounded once.
 */
export type MatrixSums = "hardware" | "exact";

/**
 * A product of matrices in the registers of a warp: D = A * B + C. A has m rows, B n columns, both k elements in each.
 */
export interface MatrixProduct {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: ElementFormat;
  readonly b: ElementFormat;
  /** Of C and D; they may differ only where one is f16 and the other f32. */
  readonly c: ElementFormat;
  readonly d: ElementFormat;
  /** Bits that an element of A or B takes in a register. */
  readonly bits: number;
  readonly rule: ProductRule;
  /** Where the elements are: those of one product, or of four, one for each quarter of the warp (m8n8k4 of f16). */
  readonly fragments: { readonly kind: "whole" } | QuarterFragments;
  /**
   * Of a sparse A, whose registers have only the elements that are present, k / 2 in each row. After C comes an operand
   * with metadata.
   */
  readonly sparsity?: Sparsity;
  /**
   * Of matrices with scales. After C, and after metadata, come the scales of A and of B, each followed by the byte and
   * the thread of its selector that are no constants.
   */
  readonly scales?: BlockScales;
}

/** Four products at a time: how each quarter of the warp holds its own. */
export interface QuarterFragments {
  readonly kind: "quarters";
  /** Whether a lane holds a row of A, or a column; of B a row, or a column. */
  readonly rowsOfA: boolean;
  readonly rowsOfB: boolean;
}

/** Where the elements of a matrix, or of four, are in the registers of a warp. */
export interface FragmentMap {
  /** Bits of an element in a register, and of a register: 32, or 64 for doubles. */
  readonly bits: number;
  readonly registerBits: 32 | 64;
  readonly registers: number;
  /** Rows and columns; products that the warp computes. */
  readonly rows: number;
  readonly columns: number;
  readonly products: number;
  /** By register, lane and part: the element, (product * rows + row) * columns + column. */
  readonly elements: readonly number[];
}

const LANES = 32;

type Place = (register: number, lane: number, part: number) => readonly [product: number, row: number, column: number];

function fragmentMap(
  bits: number,
  [rows, columns, products]: readonly [number, number, number],
  place: Place,
): FragmentMap {
  const registerBits = bits === 64 ? 64 : 32;
  const parts = registerBits / bits;
  const registers = (rows * columns * products) / LANES / parts;
  const elements: number[] = [];
  for (let register = 0; register < registers; register++) {
    for (let lane = 0; lane < LANES; lane++) {
      for (let part = 0; part < parts; part++) {
        const [product, row, column] = place(register, lane, part);
        elements.push((product * rows + row) * columns + column);
      }
    }
  }
  return { bits, registerBits, registers, rows, columns, products, elements };
}

/** The matrices of a product; `c` is both C and D if their formats are the same. */
export type MatrixName = "a" | "b" | "c" | "d";

const accumulatorBits = (format: ElementFormat): number => (format === "f64" ? 64 : format === "f16" ? 16 : 32);

/** The fragment of a matrix of a product, as sections 9.7.14.5.1 to 9.7.14.5.13 give it. */
export function fragmentOf(product: MatrixProduct, matrix: MatrixName): FragmentMap {
  let found = known.get(product);
  if (found === undefined) known.set(product, (found = new Map()));
  let map = found.get(matrix);
  if (map === undefined) {
    const { fragments } = product;
    map = fragments.kind === "whole" ? wholeFragment(product, matrix) : quarterFragment(product, matrix, fragments);
    found.set(matrix, map);
  }
  return map;
}

const known = new WeakMap<MatrixProduct, Map<MatrixName, FragmentMap>>();

/**
 * Four lanes have a row of A, C or D, or a column of B. In A and B a lane has the elements of a register next to each
 * other, and the four lanes' are next to each other; further registers are for the next rows of a matrix of 16 rows,
 * then for the next columns. In C and D a lane has two columns.
 */
function wholeFragment({ m, n, k, bits, c, d, sparsity }: MatrixProduct, matrix: MatrixName): FragmentMap {
  const parts = bits === 64 ? 1 : 32 / bits;
  switch (matrix) {
    case "a": {
      const halves = m / 8;
      const present = sparsity === undefined ? k : k / 2;
      return fragmentMap(bits, [m, present, 1], (register, lane, part) => [
        0,
        (lane >> 2) + 8 * (register % halves),
        (Math.floor(register / halves) * 4 + (lane & 3)) * parts + part,
      ]);
    }
    case "b":
      return fragmentMap(bits, [k, n, 1], (register, lane, part) => [
        0,
        (register * 4 + (lane & 3)) * parts + part,
        lane >> 2,
      ]);
    case "c":
    case "d": {
      const own = accumulatorBits(matrix === "c" ? c : d);
      const inRegister = own === 16 ? 2 : 1;
      return fragmentMap(own, [m, n, 1], (register, lane, part) => {
        const i = register * inRegister + part;
        // Pairs of columns: of the rows first, then of the next eight columns.
        const pair = i >> 1;
        return [0, (lane >> 2) + 8 * (pair % (m / 8)), 8 * Math.floor(pair / (m / 8)) + 2 * (lane & 3) + (i & 1)];
      });
    }
  }
}

/**
 * m8n8k4 of f16 (section 9.7.14.5.1): lanes 4q to 4q + 3 and 4q + 16 to 4q + 19 compute product q. The first four have
 * the first four rows of A and C, and columns of B.
 */
function quarterFragment(
  { c, d }: MatrixProduct,
  matrix: MatrixName,
  { rowsOfA, rowsOfB }: QuarterFragments,
): FragmentMap {
  const product = (lane: number): number => (lane >> 2) & 3;
  const own = (lane: number): number => lane & 3;
  const upper = (lane: number): number => (lane < 16 ? 0 : 4);
  switch (matrix) {
    case "a":
      return fragmentMap(16, [8, 4, 4], (register, lane, part) => {
        const i = 2 * register + part;
        return rowsOfA ? [product(lane), own(lane) + upper(lane), i] : [product(lane), i + upper(lane), own(lane)];
      });
    case "b":
      return fragmentMap(16, [4, 8, 4], (register, lane, part) => {
        const i = 2 * register + part;
        return rowsOfB ? [product(lane), own(lane), i + upper(lane)] : [product(lane), i, own(lane) + upper(lane)];
      });
    case "c":
    case "d":
      if ((matrix === "c" ? c : d) === "f16") {
        return fragmentMap(16, [8, 8, 4], (register, lane, part) => [
          product(lane),
          own(lane) + upper(lane),
          2 * register + part,
        ]);
      }
      return fragmentMap(32, [8, 8, 4], (i, lane) => [
        product(lane),
        (lane & 1) + (i & 2) + upper(lane),
        (i & 4) + (lane & 2) + (i & 1),
      ]);
  }
}
