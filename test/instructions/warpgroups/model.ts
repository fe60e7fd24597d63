import { bitsOf, encode } from "./formats.ts";
import { pairsOfFour } from "../../pairs-of-four.ts";

/*
 * wgmma.mma_async, computed from its definition: D = A * B + C for whole matrices, whose elements are then put where
 * the manual says that they are, in registers and in shared memory. The values are small, so that all sums are exact.
 */

/** How an operand lies in shared memory. */
export interface Shared {
  /** Bytes of the swizzle; 16: none. */
  readonly width: 16 | 32 | 64 | 128;
  readonly kMajor: boolean;
  /** Bytes along k in front of the operand in its rows: a later step of a product over a long k. */
  readonly skip?: number;
}

export interface Case {
  readonly a: string;
  readonly b: string;
  readonly d: string;
  readonly n: number;
  /** Null: A is in registers. */
  readonly left: Shared | null;
  readonly right: Shared;
  /** The sparsity selector; null for a dense A. */
  readonly selector: number | null;
  readonly satfinite?: boolean;
  readonly negate?: readonly [a: boolean, b: boolean];
  /** As it is written; `p` and `q` are predicates that are true and false. */
  readonly scale?: "p" | "q" | "0" | "1";
}

/** The elements of A that instructions of this type take along k. */
const packedDepth = (type: string): number => 256 / bitsOf(type);
export const depthOf = ({ a, selector }: Case): number => packedDepth(a) * (selector === null ? 1 : 2);

const rows = 64;

/** Chunks of a sparse row that have a number of elements each, of which half are present. */
const chunkOf = (type: string): number => (type === "tf32" ? 2 : 4);

/** A small number that depends on its arguments. */
function scattered(seed: number, i: number, j: number): number {
  let x = Math.imul(i * 4099 + j + seed * 65537, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  return (x ^ (x >>> 13)) >>> 0;
}

function element(type: string, seed: number, i: number, j: number): number {
  const bits = scattered(seed, i, j);
  if (type === "b1") return bits & 1;
  if (type === "u8") return bits % 11;
  if (type === "s8") return (bits % 11) - 5;
  return [0, 1, -1, 0.5, -2, 1.5][bits % 6]!;
}

/** The indices of the elements of a dense row that a sparse one has, in their order, and the metadata of its chunks. */
function sparseRow({ a }: Case, row: number): { readonly indices: number[]; readonly metadata: number[] } {
  const [indices, metadata] = [[], []] as [number[], number[]];
  const size = chunkOf(a);
  for (let chunk = 0; chunk < (2 * packedDepth(a)) / size; chunk++) {
    const choice = scattered(7, row, chunk);
    if (size === 2) {
      // "0b1110 and 0b0100 are the only meaningful values"
      indices.push(2 * chunk + (choice & 1));
      metadata.push((choice & 1) === 1 ? 0b1110 : 0b0100);
      continue;
    }
    const [first, second] = pairsOfFour[choice % 6]!;
    indices.push(4 * chunk + first, 4 * chunk + second);
    metadata.push(first | (second << 2));
  }
  return { indices, metadata };
}

/** What a kernel is given, and what it leaves. */
export interface Prepared {
  readonly image: Uint8Array;
  readonly startOfB: number;
  /** By thread and register. */
  readonly registersOfA: number[][];
  readonly registersOfC: number[][];
  readonly metadata: number[];
  readonly registersOfD: number[][];
  readonly descriptors: readonly [a: bigint | null, b: bigint];
}

export function prepare(c: Case): Prepared {
  const [packed, depth] = [packedDepth(c.a), depthOf(c)];
  const [scaleA, scaleB] = (c.negate ?? [false, false]).map((negated) => (negated ? -1 : 1)) as [number, number];
  const left = matrix(rows, packed, (i, j) => element(c.a, 1, i, j));
  const right = matrix(c.n, depth, (i, j) => element(c.b, 2, i, j));
  const start = matrix(rows, c.n, (i, j) => startValue(c, i, j));
  const sparse = Array.from({ length: rows }, (_, row) => (c.selector === null ? null : sparseRow(c, row)));
  const keeps = c.scale !== "q" && c.scale !== "0";
  const result = matrix(rows, c.n, (i, j) => {
    let sum = keeps ? start[i]![j]! : 0;
    for (let e = 0; e < packed; e++) {
      const k = sparse[i]?.indices[e] ?? e;
      sum += scaleA * left[i]![e]! * (scaleB * right[j]![k]!);
    }
    return c.d !== "s32" ? sum : c.satfinite === true ? Math.min(Math.max(sum, -(2 ** 31)), 2 ** 31 - 1) : sum | 0;
  });
  const image = new Uint8Array(49152);
  const startOfB = 16384;
  if (c.left !== null) store(image, 0, c.left, c.a, left);
  store(image, startOfB, c.right, c.b, right);
  return {
    image,
    startOfB,
    registersOfA: c.left === null ? threads((t) => fragmentOfA(c.a, left, t)) : [],
    registersOfC: threads((t) => fragmentOfD(c.d, start, t)),
    metadata: c.selector === null ? [] : threads((t) => metadataOf(c, sparse as SparseRows, t)),
    registersOfD: threads((t) => fragmentOfD(c.d, result, t)),
    descriptors: [
      c.left && descriptor(c.left, rows, packed, bitsOf(c.a), 0),
      descriptor(c.right, c.n, depth, bitsOf(c.b), startOfB),
    ],
  };
}

/** Accumulators of integers are at the ends of the range, so that sums wrap or are clamped. */
function startValue({ d, a }: Case, i: number, j: number): number {
  const small = (scattered(3, i, j) % 9) - 4;
  if (d !== "s32" || a === "b1") return small;
  return [small, 2 ** 31 - 1 + Math.min(small, 0), -(2 ** 31) + Math.max(small, 0)][scattered(4, i, j) % 3]!;
}

const matrix = (height: number, width: number, at: (i: number, j: number) => number): number[][] =>
  Array.from({ length: height }, (_, i) => Array.from({ length: width }, (_, j) => at(i, j)));

const threads = <T>(of: (thread: number) => T): T[] => Array.from({ length: 128 }, (_, thread) => of(thread));

/** Registers of elements of a type, the first in the low bits. */
function packedRegisters(type: string, values: readonly number[]): number[] {
  const bits = bitsOf(type);
  const parts = 32 / bits;
  return Array.from({ length: values.length / parts }, (_, register) => {
    let word = 0n;
    for (let part = 0; part < parts; part++)
      word |= BigInt(encode(type, values[register * parts + part]!)) << BigInt(part * bits);
    return Number(word);
  });
}

/*
 * Figures 148 to 155. Warp w has rows 16w to 16w + 15 of A and D; of a warp lane l has rows l / 4 and l / 4 + 8. Of the
 * elements next to each other in a row of A that fill eight registers, each of four lanes has one register, then one
 * from the second half. Of D a lane has two columns of each eight.
 */
function fragmentOfA(type: string, a: readonly (readonly number[])[], thread: number): number[] {
  const [warp, lane] = [thread >> 5, thread & 31];
  const inRegister = 32 / bitsOf(type);
  const values: number[] = [];
  for (let register = 0; register < 4; register++) {
    const row = 16 * warp + (lane >> 2) + (register % 2 === 1 ? 8 : 0);
    const first = ((lane % 4) + (register >= 2 ? 4 : 0)) * inRegister;
    for (let i = 0; i < inRegister; i++) values.push(a[row]![first + i]!);
  }
  return packedRegisters(type, values);
}

function fragmentOfD(type: string, d: readonly (readonly number[])[], thread: number): number[] {
  const [warp, lane] = [thread >> 5, thread & 31];
  const values = Array.from({ length: d[0]!.length / 2 }, (_, i) => {
    const row = 16 * warp + (lane >> 2) + 8 * ((i >> 1) & 1);
    return d[row]![8 * (i >> 2) + 2 * (lane % 4) + (i & 1)]!;
  });
  return packedRegisters(type, values);
}

type SparseRows = readonly { readonly metadata: readonly number[] }[];

/**
 * Figures 176, 178, 180 and 181. Lanes that hold nothing have all bits set. Of 16- and 32-bit types a lane has the
 * metadata of 16 elements of row g, and in the upper half those of row g + 8; of 8-bit types lanes 4g and 4g + 1 have
 * the first 32 elements of both rows, the other two the rest.
 */
function metadataOf({ a, selector }: Case, sparse: SparseRows, thread: number): number {
  const [warp, lane] = [thread >> 5, thread & 31];
  const [g, t] = [16 * warp + (lane >> 2), lane % 4];
  const join = (fields: readonly number[]): bigint => fields.reduce((w, f, i) => w | (BigInt(f) << BigInt(4 * i)), 0n);
  if (bitsOf(a) === 8) {
    const row = t % 2 === 0 ? g : g + 8;
    return Number(join(sparse[row]!.metadata.slice(t < 2 ? 0 : 8, t < 2 ? 8 : 16)));
  }
  if (t >> 1 !== selector) return 0xffffffff;
  const half = (row: number): readonly number[] => sparse[row]!.metadata.slice(4 * (t & 1), 4 * (t & 1) + 4);
  return Number(join([...half(g), ...half(g + 8)]));
}

/** The leading and the stride byte offset of operands that leave no gaps. */
function offsets({ width, kMajor }: Shared, count: number, depth: number, bits: number): [number, number] {
  const bytes = (depth * bits) / 8;
  if (kMajor) return width === 16 ? [128, 8 * bytes] : [16, 8 * width];
  return width === 16 ? [Math.ceil(count / 8) * 128, 128] : [depth * width, 8 * width];
}

function descriptor(at: Shared, count: number, depth: number, bits: number, from: number): bigint {
  const [leading, stride] = offsets(at, count, depth, bits);
  const mode = { 16: 0n, 128: 1n, 64: 2n, 32: 3n }[at.width];
  const start = from + (at.skip ?? 0);
  return BigInt(start >> 4) | (BigInt(leading >> 4) << 16n) | (BigInt(stride >> 4) << 32n) | (mode << 62n);
}

/** Section 9.7.15.5.1.2: the byte of an element of a row of A, or of a column of B. */
function byteOf(at: Shared, count: number, depth: number, bits: number, mn: number, k: number): number {
  const [leading, stride] = offsets(at, count, depth, bits);
  const { width, kMajor, skip = 0 } = at;
  let byte: number;
  if (kMajor) {
    const along = (k * bits) / 8;
    byte = (mn % 8) * width + Math.floor(mn / 8) * stride;
    byte += width === 16 ? Math.floor(along / 16) * leading + (along % 16) : along + skip;
  } else {
    const along = (mn * bits) / 8;
    const group = Math.floor(along / width);
    byte = (k % 8) * width + Math.floor(k / 8) * (width === 16 ? leading : stride);
    byte += group * (width === 16 ? stride : leading) + (along % width);
  }
  return byte ^ ((Math.floor(byte / 128) % (width / 16)) * 16);
}

function store(
  image: Uint8Array,
  from: number,
  at: Shared,
  type: string,
  values: readonly (readonly number[])[],
): void {
  const bits = bitsOf(type);
  const depth = values[0]!.length;
  values.forEach((line, mn) => {
    line.forEach((value, k) => {
      const byte = from + byteOf(at, values.length, depth, bits, mn, k);
      const pattern = encode(type, value);
      if (bits === 1) image[Math.floor(byte)] = image[Math.floor(byte)]! | (pattern << (k % 8));
      else for (let i = 0; i < bits / 8; i++) image[byte + i] = (pattern >>> (8 * i)) & 255;
    });
  });
}
