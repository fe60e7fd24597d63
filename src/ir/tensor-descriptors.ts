import type { ElementFormat } from "./matrix-product.ts";
import type { SharedMatrixLayout, SwizzleWidth } from "./shared-matrix.ts";

/** A matrix in shared memory as an instruction of tcgen05 finds it. */
export interface TensorMatrixLayout extends SharedMatrixLayout {
  /** `leading`: the address of what follows the first 128 bytes of a row (K-major, k of 48 bytes). */
  readonly absolute: boolean;
}

const swizzles: Readonly<Record<number, { readonly width: SwizzleWidth; readonly grain: 16 | 32 }>> = {
  0: { width: 16, grain: 16 },
  1: { width: 128, grain: 32 },
  2: { width: 128, grain: 16 },
  4: { width: 64, grain: 16 },
  6: { width: 32, grain: 16 },
};

/**
 * The layout in a shared memory descriptor of tcgen05 (section 9.7.16.4.1), whose halves are given as 32-bit integers;
 * or why it is none.
 */
export function tensorLayoutOf(low: number, high: number): TensorMatrixLayout | string {
  const swizzle = swizzles[high >>> 29];
  if (swizzle === undefined) return `${high >>> 29} in bits 61 to 63 is no swizzling mode`;
  const version = (high >>> 14) & 7;
  if (version !== 1) return `bits 46 to 48 must be 1, not ${version}`;
  return {
    start: (low & 0x3fff) << 4,
    leading: ((low >>> 16) & 0x3fff) << 4,
    stride: (high & 0x3fff) << 4,
    ...swizzle,
    baseOffset: (high >>> 17) & 7,
    absolute: ((high >>> 20) & 1) === 1,
  };
}

/** The kinds of products of tcgen05. */
export type TensorKind = "f16" | "tf32" | "f8f6f4" | "i8" | "mxf8f6f4" | "mxf4" | "mxf4nvf4";

/** The product that an instruction descriptor of tcgen05 describes: A has m rows, B n columns. */
export interface TensorInstruction {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly sparse: boolean;
  readonly a: ElementFormat;
  readonly b: ElementFormat;
  readonly d: "f16" | "f32" | "s32";
  /** Whether the elements of A and B count with the other sign. */
  readonly negateA: boolean;
  readonly negateB: boolean;
  /** Whether A and B lie along k in shared memory. */
  readonly kMajorA: boolean;
  readonly kMajorB: boolean;
  readonly saturates: boolean;
  /** Which part of the columns the metadata of a sparse A has. */
  readonly sparsitySelector: number;
  /** Formats and places of the scales. */
  readonly scale: "ue8m0" | "ue4m3";
  readonly scaleA: number;
  readonly scaleB: number;
}

const halfFormats: Readonly<Record<number, ElementFormat>> = { 0: "f16", 1: "bf16" };
const narrowFormats: Readonly<Record<number, ElementFormat>> = {
  0: "e4m3",
  1: "e5m2",
  3: "e2m3",
  4: "e3m2",
  5: "e2m1",
};
const fourBits: Readonly<Record<number, ElementFormat>> = { 1: "e2m1" };

/** By kind: the formats of A and B and of D by their codes, and k of a dense product. */
const kinds: Readonly<
  Record<
    TensorKind,
    {
      readonly formats: Readonly<Record<number, ElementFormat>>;
      readonly results: Readonly<Record<number, "f16" | "f32" | "s32">>;
      readonly k: number;
    }
  >
> = {
  f16: { formats: halfFormats, results: { 0: "f16", 1: "f32" }, k: 16 },
  tf32: { formats: { 2: "tf32" }, results: { 1: "f32" }, k: 8 },
  f8f6f4: { formats: narrowFormats, results: { 0: "f16", 1: "f32" }, k: 32 },
  i8: { formats: { 0: "u8", 1: "s8" }, results: { 2: "s32" }, k: 32 },
  mxf8f6f4: { formats: narrowFormats, results: {}, k: 32 },
  mxf4: { formats: fourBits, results: {}, k: 64 },
  mxf4nvf4: { formats: fourBits, results: {}, k: 64 },
};

const bit = (word: number, at: number): boolean => ((word >>> at) & 1) === 1;

/** Whether products of a kind have a scale for each block of elements. */
export const isScaled = (kind: TensorKind): boolean => kind.startsWith("mxf");

/** The product in an instruction descriptor (section 9.7.16.4.2), or why it is none. Shapes are checked elsewhere. */
export function tensorInstruction(kind: TensorKind, word: number): TensorInstruction | string {
  const { formats, results, k } = kinds[kind];
  const scaled = isScaled(kind);
  const codeA = (word >>> 7) & 7;
  const codeB = (word >>> 10) & (k === 64 ? 3 : 7);
  const [a, b] = [formats[codeA], formats[codeB]];
  if (a === undefined || b === undefined) {
    return `${a === undefined ? codeA : codeB} is no type of matrix ${a === undefined ? "A" : "B"}`;
  }
  const d = scaled ? "f32" : results[(word >>> 4) & 3];
  if (d === undefined) return `${(word >>> 4) & 3} is no type of matrix D`;
  if (d === "f16" && kind === "f16" && (a !== "f16" || b !== "f16")) return "D can be f16 only if A and B are";
  const sparse = bit(word, 2);
  const three = k === 64 && bit(word, 31);
  if (three && sparse) return "a product with k = 96 cannot be sparse";
  const scale = bit(word, 23) ? "ue8m0" : "ue4m3";
  if (scaled && kind !== "mxf4nvf4" && scale !== "ue8m0") return "the scales must be ue8m0 (bit 23)";
  return {
    m: scaled ? ((word >>> 27) & 3) << 7 : ((word >>> 24) & 31) << 4,
    n: ((word >>> 17) & 63) << 3,
    k: three ? 96 : sparse ? 2 * k : k,
    sparse,
    ...{ a, b, d },
    negateA: bit(word, 13),
    negateB: bit(word, 14),
    kMajorA: !bit(word, 15),
    kMajorB: !bit(word, 16),
    saturates: kind === "i8" && bit(word, 3),
    sparsitySelector: scaled ? 0 : word & 3,
    scale,
    scaleA: scaled ? (word >>> 29) & 3 : 0,
    scaleB: scaled ? (word >>> 4) & 3 : 0,
  };
}

/** How an instruction computes a product. */
export interface TensorVariant {
  /** Blocks that take part: 1 or 2. */
  readonly group: 1 | 2;
  /** The weights, B, stay in the unit (`.ws`). */
  readonly stationary: boolean;
}

/** Why a kind has no products of the shape of an instruction (table 39), or null. */
export function shapeProblem(
  kind: TensorKind,
  { m, n, k, sparse }: TensorInstruction,
  v: TensorVariant,
): string | null {
  const rows = v.stationary ? [32, 64, 128] : v.group === 2 ? [128, 256] : isScaled(kind) ? [128] : [64, 128];
  const rightRows = isScaled(kind) && v.group === 2 && (sparse || k === 96) ? [256] : rows;
  if (!rightRows.includes(m)) return `M is ${m}, and can be ${rightRows.join(" or ")}`;
  if (v.stationary) {
    const columns = sparse ? [64, 128] : [64, 128, 256];
    return columns.includes(n) ? null : `N is ${n}, and can be ${columns.join(" or ")}`;
  }
  const step = 8 * v.group * (kind === "i8" && (v.group === 2 || n > 32) ? 2 : 1);
  if (n === 0 || n > 256 || n % step !== 0) return `N is ${n}, and can be a multiple of ${step} up to 256`;
  return null;
}

/**
 * The columns of B that count as zero (section 9.7.16.4.3). Bit i of the sub-mask for a part of the columns is column i
 * of that part. Runs of columns that are used and of zero columns alternate.
 */
export interface ZeroColumns {
  /** The first column of B that the product uses is this one. */
  readonly shift: number;
  /** By column of the product, whether it counts as zero. */
  readonly zero: readonly boolean[];
}

/**
 * The mask in a zero-column mask descriptor for a product with m rows and n columns. The manual's table 45 exchanges
 * the two spans: its examples, and CUTLASS, have zeros in runs of the skip span and B's values in runs of the use span.
 */
export function zeroColumns(low: number, high: number, m: number, n: number): ZeroColumns {
  const shift = (high >>> 24) & 63;
  if (!bit(high, 7)) return { shift, zero: Array<boolean>(n).fill(false) };
  const skipped = ((high >>> 8) & 255) + 1;
  const used = ((high >>> 16) & 255) + 1;
  const parts = m === 128 ? 1 : m === 64 ? 2 : 4;
  const zero: boolean[] = [];
  for (let part = 0; part < parts; part++) {
    // Where in the period of one run of each kind the part begins: runs of zeros come first in it.
    let at = (bit(high, part) ? 0 : skipped) + ((low >>> (8 * part)) & 255);
    for (let column = 0; column < n / parts; column++, at++) zero.push(at % (skipped + used) < skipped);
  }
  return { shift, zero };
}
