import { describe, expect, test } from "vitest";
import type { TensorKind, UnitOpOf } from "../../src/ir/index.ts";
import { multiplyTensor } from "../../src/program/units/tensor/multiply.ts";
import {
  byteOf,
  columns,
  depths,
  descriptor,
  f16,
  f32,
  generator,
  Machine,
  type Operand,
  sparsePlaces,
  startB,
  type Swizzle,
  type Type,
  types,
} from "./tensor-machine.ts";

/*
 * Products against a reference that is written here from the manual: where elements of a matrix lie in shared memory
 * (section 9.7.16.3.3, canonical layouts), where those of A, of D, the metadata and the scales lie in tensor memory
 * (9.7.16.10.5, 9.7.16.10.7, 9.7.16.10.8), and D = A * B + D. Values are small integers, or powers of two, so that sums
 * are exact.
 */

interface Product {
  readonly kind: TensorKind;
  readonly a: keyof typeof types;
  readonly b: keyof typeof types;
  readonly m: 32 | 64 | 128 | 256;
  readonly n: number;
  readonly layoutA: Operand | "tensor";
  readonly layoutB: Operand;
  /** Two blocks take part, of which the one of this rank issues the product. */
  readonly pair?: 0 | 1;
  readonly stationary?: boolean;
  readonly sparse?: boolean;
  readonly half?: boolean;
  /** The lane of the addresses of A and D. */
  readonly lane?: 16;
  readonly scales?: 1 | 2 | 4;
}

/** Rows of a block, and the parts of the columns of D that lie in other lanes each (table in 9.7.16.10.5). */
function layoutD({ m, pair, sparse = false, stationary = false }: Product) {
  const rows = pair === undefined ? m : m / 2;
  const parts = stationary ? 128 / m : pair !== undefined && m === 128 && !sparse ? 2 : 1;
  return { rows, parts, isSpread: rows === 64 && parts === 1 };
}

/**
 * The lane of a row of D for a column, of those that a block has, and the column from the address (figures 205 to 218).
 */
function cellOfD(product: Product, row: number, column: number): readonly [number, number] {
  const { rows, parts, isSpread } = layoutD(product);
  if (isSpread) return [Math.floor(row / 16) * 32 + (row % 16), column];
  const width = product.n / parts;
  return [row + Math.floor(column / width) * rows, column % width];
}

/** What one block has: its memory, from which row of A and D on, and from which column of B on. */
interface Block {
  readonly machine: Machine;
  readonly row: number;
  readonly column: number;
}

/** A product, its matrices, and the memory in which they are. */
interface Setting {
  readonly product: Product;
  readonly blocks: readonly Block[];
  readonly k: number;
  readonly stored: number;
  readonly a: readonly (readonly number[])[];
  readonly b: readonly (readonly number[])[];
  readonly d: readonly (readonly number[])[];
  /** By row of A, which elements along k it has. */
  readonly places: readonly ReturnType<typeof sparsePlaces>[];
  /** By line, the exponents of its scales. */
  readonly exponents: Readonly<Record<"a" | "b", readonly (readonly number[])[]>>;
}

/** One block, or the two of a pair: each has half of the rows of A and D, and of the columns of B. */
function blocksOf({ m, n, pair }: Product): Block[] {
  if (pair === undefined) return [{ machine: new Machine(), row: 0, column: 0 }];
  const machines: Machine[] = [];
  return [0, 1].map((rank) => {
    const machine = new Machine(machines, rank);
    machines.push(machine);
    return { machine, row: (rank * m) / 2, column: (rank * n) / 2 };
  });
}

function settingOf(product: Product, seed: number): Setting {
  const { kind, m, n, sparse = false } = product;
  const random = generator(seed);
  const stored = depths[kind];
  const k = sparse ? 2 * stored : stored;
  const matrix = (rows: number, width: number) =>
    Array.from({ length: rows }, () => Array.from({ length: width }, () => random(5) - 2));
  const [a, b, d] = [matrix(m, stored), matrix(n, k), matrix(m, n)];
  const places = a.map(() => sparsePlaces(kind, k, random));
  const scalesOf = (lines: readonly unknown[]) => lines.map(() => [0, 0, 0, 0].map(() => random(3)));
  const exponents = { a: scalesOf(a), b: scalesOf(b) };
  return { product, blocks: blocksOf(product), k, stored, a, b, d, places, exponents };
}

/** Elements narrower than a byte lie in cells of a byte, or 16 of them at the beginning of 16 bytes. */
const isPadded = ({ kind }: Product): boolean => kind === "f8f6f4" || kind === "mxf8f6f4";

const laneOf = (product: Product, row: number): number => (product.lane ?? 0) + cellOfD(product, row, 0)[0];
const copiesOf = (product: Product): number => layoutD(product).parts;

const patternD = ({ kind, half = false }: Product, value: number): number =>
  kind === "i8" ? value | 0 : half ? f16(value) : f32(value);

function writeShared(
  product: Product,
  machine: Machine,
  layout: Operand,
  start: number,
  { bits, pattern }: Type,
  lines: readonly (readonly number[])[],
): void {
  const padded = isPadded(product);
  const depth = lines[0]!.length;
  for (let mn = 0; mn < lines.length; mn++) {
    for (let k = 0; k < depth; k++) {
      const at = start + byteOf(layout, [mn, k], lines.length, padded ? 8 : bits, depth);
      const p = pattern(lines[mn]![k]!);
      if (padded && bits < 8) machine.pack(at & ~15, (at & 15) * bits, bits, p);
      else if (bits === 4) machine.pack(Math.floor(at), 4 * (k % 2), 4, p);
      else machine.pack(at, 0, bits, p);
    }
  }
}

function writeTensor({ product, a, d, places }: Setting, { machine, row: first }: Block): void {
  const { kind, layoutA, sparse = false, lane = 0 } = product;
  const { rows } = layoutD(product);
  const { bits, pattern }: Type = types[product.a];
  const cell = isPadded(product) ? 8 : bits;
  const shift = isPadded(product) && bits === 4 ? 2 : 0;
  const sharesLanes = kind === "f16" || kind === "tf32";
  for (let copy = 0; copy < copiesOf(product); copy++) {
    for (let row = 0; row < rows; row++) {
      const own = laneOf(product, row) + copy * rows;
      if (layoutA === "tensor") {
        for (const [i, v] of a[first + row]!.entries())
          machine.put(own, columns.a, i * cell, cell, pattern(v) << shift);
      }
      if (!sparse) continue;
      const groups = places[first + row]!.bits;
      for (const [group, four] of groups.entries()) {
        const upper = sharesLanes && group >= groups.length / 2 ? 1 : 0;
        const at = sharesLanes ? (row & ~15) + (row & 7) + 8 * upper : row;
        const bit = sharesLanes ? 16 * ((row >> 3) & 1) + 4 * (group - (upper * groups.length) / 2) : 4 * group;
        machine.put(laneOf(product, at) + copy * rows, columns.metadata, bit, 4, four);
      }
    }
  }
  for (const [r, row] of d.slice(first, first + rows).entries()) {
    for (const [c, v] of row.entries()) {
      const [l, column] = cellOfD(product, r, c);
      machine.put(lane + l, columns.d + column, 0, 32, patternD(product, v));
    }
  }
}

/** Each quarter of the lanes has the scales of all of the block's rows, and of the columns that it computes. */
function writeScales({ product, exponents }: Setting, { machine, row: first }: Block): void {
  const { scales, n } = product;
  const { rows, parts } = layoutD(product);
  if (scales === undefined) return;
  const write = (quarter: number, start: number, lines: readonly (readonly number[])[]): void => {
    for (const [i, line] of lines.entries()) {
      for (let s = 0; s < scales; s++) {
        machine.put(32 * quarter + (i % 32), start + Math.floor(i / 32), 8 * s, 8, 127 + line[s]!);
      }
    }
  };
  for (let quarter = 0; quarter < 4; quarter++) {
    write(quarter, columns.scaleA, exponents.a.slice(first, first + rows));
    const part = Math.floor((quarter * parts) / 4);
    write(quarter, columns.scaleB, exponents.b.slice((part * n) / parts, ((part + 1) * n) / parts));
  }
}

/** The operands of the instruction, in the order of `UnitOp`. */
function operandsOf({ product, stored, k }: Setting): bigint[] {
  const { kind, m, n, layoutA, layoutB, sparse = false, half = false, lane = 0, scales } = product;
  const [typeA, typeB]: [Type, Type] = [types[product.a], types[product.b]];
  const transposed = (layout: Operand | "tensor"): number => (layout !== "tensor" && !layout.kMajor ? 1 : 0);
  const cellBits = ({ bits }: Type): number => (isPadded(product) ? 8 : bits);
  const instruction =
    (sparse ? 4 : 0) |
    (typeA.code << 7) |
    (typeB.code << 10) |
    (transposed(layoutA) << 15) |
    (transposed(layoutB) << 16) |
    ((n >> 3) << 17) |
    (scales === undefined
      ? ((m >> 4) << 24) | ((kind === "i8" ? 2 : half ? 0 : 1) << 4)
      : (1 << 23) | ((m >> 7) << 27));
  const tensorAddress = (column: number): bigint => BigInt((lane << 16) | column);
  const own = product.pair === undefined ? 1 : 2;
  return [
    tensorAddress(columns.d),
    layoutA === "tensor" ? tensorAddress(columns.a) : descriptor(layoutA, 0, m / own, cellBits(typeA), stored),
    descriptor(layoutB, startB, n / own, cellBits(typeB), k),
    BigInt(instruction),
    1n,
    ...(sparse ? [tensorAddress(columns.metadata)] : []),
    ...(scales === undefined ? [] : [BigInt(columns.scaleA), BigInt(columns.scaleB)]),
  ];
}

/** D as the reference has it. */
function expectedAt(
  { product: { scales, sparse = false }, k, a, b, d, places, exponents }: Setting,
  row: number,
  column: number,
) {
  return a[row]!.reduce((sum, value, i) => {
    const at = sparse ? places[row]!.at[i]! : i;
    const block = scales === undefined ? 0 : Math.floor((at * scales) / k);
    const scale = scales === undefined ? 1 : 2 ** (exponents.a[row]![block]! + exponents.b[column]![block]!);
    return sum + value * b[column]![at]! * scale;
  }, d[row]![column]!);
}

function run(product: Product, seed: number): void {
  const setting = settingOf(product, seed);
  const { blocks, a, b } = setting;
  const { kind, n, layoutA, layoutB, sparse = false, stationary = false, lane = 0, scales, pair } = product;
  const { rows } = layoutD(product);
  for (const block of blocks) {
    const { machine, row, column } = block;
    if (layoutA !== "tensor") writeShared(product, machine, layoutA, 0, types[product.a], a.slice(row, row + rows));
    const own = b.slice(column, column + n / blocks.length);
    writeShared(product, machine, layoutB, startB, types[product.b], own);
    writeTensor(setting, block);
    writeScales(setting, block);
  }
  const issuing = blocks[pair ?? 0]!.machine;
  issuing.operands = operandsOf(setting);
  const op: UnitOpOf<"tensor-multiply"> = {
    ...{ op: "tensor-multiply", pair: pair !== undefined, kind, fromTensorMemory: layoutA === "tensor" },
    ...{ sparse, stationary, shifted: false, scales: scales ?? null, masked: false, zeroColumns: false, scaleD: 0 },
  };
  multiplyTensor(op, issuing.call);
  const wrong: string[] = [];
  for (const { machine, row: first } of blocks) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < n; column++) {
        const [l, c] = cellOfD(product, row, column);
        const found = machine.memory.words[(lane + l) * 512 + columns.d + c]!;
        const expected = patternD(product, expectedAt(setting, first + row, column)) | 0;
        if (found !== expected) wrong.push(`row ${first + row} column ${column}: ${found} instead of ${expected}`);
      }
    }
  }
  expect(wrong.slice(0, 3)).toEqual([]);
}

const kMajor = (swizzle: Swizzle): Operand => ({ swizzle, kMajor: true });
const mnMajor = (swizzle: Swizzle): Operand => ({ swizzle, kMajor: false });

const halves = { kind: "f16", a: "f16", b: "f16", m: 128, n: 64, layoutA: kMajor(16), layoutB: kMajor(16) } as const;
const narrow = { ...halves, kind: "f8f6f4", a: "e4m3", b: "e5m2" } as const;

describe("layouts in shared memory", () => {
  const swizzles = [16, 32, 64, 128] as const;
  // Lines of 32 bytes fill a swizzle of 32: in wider ones the next bytes along k follow.
  test("K-major", () => {
    for (const layout of [kMajor(16), kMajor(32)]) {
      run({ ...halves, layoutA: layout, layoutB: layout }, 1);
      run({ ...narrow, layoutA: layout, layoutB: layout }, 2);
    }
  });
  test.each(swizzles)("MN-major, %s bytes", (swizzle) => {
    run({ ...halves, layoutA: mnMajor(swizzle), layoutB: mnMajor(swizzle) }, 3);
    run({ ...narrow, n: 128, layoutA: mnMajor(swizzle), layoutB: mnMajor(swizzle) }, 4);
    run({ ...halves, kind: "i8", a: "s8", b: "s8", n: 128, layoutA: mnMajor(swizzle), layoutB: kMajor(32) }, 5);
  });
  test("MN-major tf32, 128 bytes with 32 together", () => {
    const layout = mnMajor("128/32");
    run({ ...halves, kind: "tf32", a: "tf32", b: "tf32", layoutA: layout, layoutB: layout }, 6);
    run({ ...halves, kind: "tf32", a: "tf32", b: "tf32", layoutA: kMajor(32), layoutB: layout }, 7);
  });
});

test.each([
  [64, 8],
  [64, 256],
  [128, 24],
  [128, 256],
] as const)("shape %s x %s", (m, n) => {
  run({ ...halves, m, n }, 8);
  run({ ...halves, m, n, a: "bf16", b: "bf16", layoutA: "tensor" }, 9);
  run({ ...halves, m, n, half: true }, 10);
  run({ ...halves, kind: "tf32", a: "tf32", b: "tf32", m, n }, 11);
  if (m === 64) run({ ...halves, m, n, layoutA: "tensor", lane: 16 }, 12);
});

test.each([
  [32, 64],
  [32, 256],
  [64, 128],
  [128, 64],
] as const)("stationary weights, shape %s x %s", (m, n) => {
  run({ ...halves, m, n, stationary: true }, 13);
  run({ ...narrow, m, n, stationary: true, layoutA: "tensor" }, 14);
  run({ ...halves, kind: "i8", a: "s8", b: "s8", m, n, stationary: true }, 15);
  if (n < 256) run({ ...halves, m, n, stationary: true, sparse: true }, 16);
  if (n < 256) run({ ...narrow, m, n, stationary: true, sparse: true, layoutA: "tensor" }, 17);
});

test.each(["e2m3", "e3m2", "e2m1", "e4m3"] as const)("%s in its padding", (type) => {
  run({ ...narrow, a: type, b: "e2m1" }, 18);
  run({ ...narrow, a: "e3m2", b: type, layoutA: "tensor", layoutB: kMajor(32) }, 19);
  run({ ...narrow, kind: "mxf8f6f4", a: type, b: "e2m3", scales: 1, n: 136 }, 20);
  run({ ...narrow, kind: "mxf8f6f4", a: type, b: "e2m1", scales: 1, layoutA: "tensor" }, 21);
});

test.each([
  ["mxf4", 2],
  ["mxf4nvf4", 2],
  ["mxf4nvf4", 4],
] as const)("%s with %s scales", (kind, scales) => {
  run({ ...halves, kind, a: "fp4", b: "fp4", scales, n: 72 }, 22);
  run({ ...halves, kind, a: "fp4", b: "fp4", scales, layoutA: "tensor", layoutB: kMajor(32) }, 23);
  run({ ...halves, kind, a: "fp4", b: "fp4", scales, sparse: true }, 24);
});

test.each([64, 128] as const)("sparse, %s rows", (m) => {
  run({ ...halves, m, sparse: true }, 25);
  run({ ...halves, m, sparse: true, layoutA: "tensor", layoutB: kMajor(64) }, 26);
  run({ ...halves, m, sparse: true, kind: "tf32", a: "tf32", b: "tf32" }, 27);
  run({ ...narrow, m, sparse: true }, 28);
  run({ ...halves, m, sparse: true, kind: "i8", a: "s8", b: "s8" }, 29);
  if (m === 64) run({ ...halves, m, sparse: true, lane: 16 }, 30);
});

describe.each([0, 1] as const)("pairs of blocks, of which that of rank %s issues the product", (pair) => {
  test.each([
    [128, 16],
    [128, 256],
    [256, 48],
    [256, 256],
  ] as const)("shape %s x %s", (m, n) => {
    run({ ...halves, m, n, pair }, 31);
    run({ ...halves, m, n, pair, layoutA: "tensor" }, 32);
    run({ ...narrow, m, n, pair, half: true, layoutB: kMajor(32) }, 33);
    run({ ...halves, kind: "tf32", a: "tf32", b: "tf32", m, n, pair }, 34);
  });
  test("transposed", () => {
    for (const m of [128, 256] as const) run({ ...halves, m, pair, layoutA: mnMajor(64), layoutB: mnMajor(32) }, 35);
    run({ ...halves, kind: "i8", a: "s8", b: "s8", m: 256, n: 128, pair, layoutB: mnMajor(64) }, 36);
  });
  test.each([128, 256] as const)("sparse, %s rows", (m) => {
    run({ ...halves, m, pair, sparse: true }, 37);
    run({ ...halves, m, pair, sparse: true, layoutA: "tensor" }, 38);
    run({ ...halves, m, pair, sparse: true, kind: "tf32", a: "tf32", b: "tf32" }, 39);
    run({ ...narrow, m, pair, sparse: true }, 40);
    if (m === 128) run({ ...halves, m, pair, sparse: true, layoutA: "tensor", lane: 16 }, 41);
  });
  test.each([128, 256] as const)("scaled, %s rows", (m) => {
    run({ ...narrow, kind: "mxf8f6f4", a: "e2m3", b: "e2m1", scales: 1, m, n: 144, pair }, 42);
    run({ ...narrow, kind: "mxf8f6f4", scales: 1, m, pair, layoutA: "tensor" }, 43);
    run({ ...halves, kind: "mxf4", a: "fp4", b: "fp4", scales: 2, m, n: 80, pair }, 44);
    run({ ...halves, kind: "mxf4nvf4", a: "fp4", b: "fp4", scales: 4, m, pair, layoutA: "tensor" }, 45);
    if (m === 256) run({ ...halves, kind: "mxf4", a: "fp4", b: "fp4", scales: 2, m, pair, sparse: true }, 46);
  });
});
