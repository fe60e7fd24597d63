import type { ChosenModifiers } from "../../../src/ptx/isa/index.ts";
import { type Cell, manualFragments, quarterFragments } from "./fragments.ts";
import { sparseLocations } from "./sparse-model.ts";

/*
 * mma, computed in doubles from the manual's fragments (fragments.ts) and the definitions of the formats. The vectors
 * have values of which every sum is exact in the result, so that no order and no rounding matters.
 */

/** Exponent bits, fraction bits, bias; the formats of section 5.2.3, and those of IEEE 754. */
const floatFormats: Readonly<Record<string, readonly [exponent: number, fraction: number, bias: number]>> = {
  f16: [5, 10, 15],
  bf16: [8, 7, 127],
  tf32: [8, 23, 127],
  f32: [8, 23, 127],
  e4m3: [4, 3, 7],
  e5m2: [5, 2, 15],
  e3m2: [3, 2, 3],
  e2m3: [2, 3, 1],
  e2m1: [2, 1, 1],
  "e2m1 packed": [2, 1, 1],
};
const signed = new Set(["s8", "s4", "s32"]);
const sizes: Readonly<Record<string, number>> = {
  b1: 1,
  s4: 4,
  u4: 4,
  s8: 8,
  u8: 8,
  f16: 16,
  bf16: 16,
  f64: 64,
  "e2m1 packed": 4,
};
const narrow = new Set(["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"]);
const sizeOf = (type: string): number => sizes[type] ?? (narrow.has(type) ? 8 : 32);

const view = new DataView(new ArrayBuffer(8));

function decode(type: string, pattern: bigint): number {
  if (type === "f64") {
    view.setBigUint64(0, pattern);
    return view.getFloat64(0);
  }
  const format = floatFormats[type];
  if (format === undefined) return Number(signed.has(type) ? BigInt.asIntN(sizeOf(type), pattern) : pattern);
  const [exponentBits, fractionBits, bias] = format;
  // "resides in central 4 bits of the 8-bit container" (9.7.14.5.14)
  const bits = Number(type === "e2m1" ? pattern >> 2n : pattern);
  const fraction = bits % 2 ** fractionBits;
  const exponent = Math.floor(bits / 2 ** fractionBits) % 2 ** exponentBits;
  const negative = Math.floor(bits / 2 ** (fractionBits + exponentBits)) % 2 === 1;
  const magnitude =
    exponent === 0
      ? fraction * 2 ** (1 - bias - fractionBits)
      : (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
  return negative ? -magnitude : magnitude;
}

function encode(type: string, value: number): bigint {
  if (type === "s32") return BigInt.asUintN(32, BigInt(value));
  if (type === "f64") {
    view.setFloat64(0, value);
    return view.getBigUint64(0);
  }
  if (type === "f32") {
    view.setFloat32(0, value);
    return BigInt(view.getUint32(0));
  }
  const pattern = halves.get(value);
  if (pattern === undefined) throw new Error(`${value} is no f16: the vector's sums are not exact`);
  return pattern;
}

/** The lowest pattern of each f16 value. */
const halves = new Map(
  Array.from({ length: 0x10000 }, (_, i) => [decode("f16", BigInt(0xffff - i)), BigInt(0xffff - i)] as const),
);

type Registers = readonly (readonly bigint[])[];

/** Element i of a lane's fragment, whose registers have `registerBits` bits. */
function elementOf(registers: Registers, lane: number, i: number, bits: number): bigint {
  const parts = bits === 64 ? 1 : 32 / bits;
  const word = registers[Math.floor(i / parts)]![lane]!;
  return BigInt.asUintN(bits, word >> BigInt((i % parts) * bits));
}

type Locate = (lane: number, i: number) => Cell;

/** By row and column, the value of each element of a matrix in these lanes. */
function gather(type: string, registers: Registers, lanes: readonly number[], locate: Locate): Map<string, number> {
  const bits = sizeOf(type);
  const count = (registers.length * (bits === 64 ? 64 : 32)) / bits;
  const found = new Map<string, number>();
  for (const lane of lanes)
    for (let i = 0; i < count; i++)
      found.set(locate(lane, i).join(), decode(type, elementOf(registers, lane, i, bits)));
  return found;
}

interface Types {
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly d: string;
}

function typesOf(mods: ChosenModifiers, opcode: string): Types {
  const text = (name: string): string | undefined => mods[name] as string | undefined;
  const fixed = /\.(f64|tf32|bf16|b1|f16|e2m1)\.\1/.exec(opcode)?.[1];
  const a = text("atype") ?? fixed!;
  const other = a === "f64" ? "f64" : /^[sub]\d/.test(a) ? "s32" : "f32";
  return { a, b: text("btype") ?? a, c: text("ctype") ?? other, d: text("dtype") ?? other };
}

/** D of a product: by register, the value in each lane. */
export function multiplied(mods: ChosenModifiers, opcode: string, operands: readonly Registers[]): bigint[][] {
  const [a, b, c, ...others] = operands as [Registers, Registers, Registers, ...Registers[]];
  const types = typesOf(mods, opcode);
  const isSparse = opcode.startsWith("mma.sp");
  // "no explicit padding is necessary even though matrix elements are of type .e2m1" (9.7.14.5.14)
  const packed = /kind::mxf4/.test(opcode);
  const multiplicandBits = packed ? 4 : sizeOf(types.a);
  const scales = opcode.includes("block_scale") ? scalesOf(opcode, others.slice(isSparse ? 2 : 0)) : () => 1;
  const shape = /m\d+n\d+k\d+/.exec(opcode)![0];
  const isQuarter = shape === "m8n8k4" && types.a === "f16";
  const k = Number(/k(\d+)/.exec(shape)![1]);
  const bits = sizeOf(types.d);
  const count = isQuarter ? 8 : shape.startsWith("m16") ? 4 : 2;
  const parts = bits === 16 ? 2 : 1;
  const result = Array.from({ length: count / parts }, () => Array<bigint>(32).fill(0n));
  const groups = isQuarter ? [0, 1, 2, 3] : [0];
  for (const group of groups) {
    const lanes = Array.from({ length: 32 }, (_, l) => l).filter((l) => !isQuarter || Math.floor(l / 4) % 4 === group);
    const dense = isQuarter ? quarterLocations(mods, types) : locations(`${shape} ${multiplicandBits}`);
    const [metadata, selector] = others.map(([element]) => element!);
    const locate = isSparse
      ? { ...dense, a: sparseLocations(shape, multiplicandBits, metadata!, Number(selector![0])) }
      : dense;
    const [typeA, typeB] = packed ? ["e2m1 packed", "e2m1 packed"] : [types.a, types.b];
    const [left, right] = [gather(typeA, a, lanes, locate.a), gather(typeB, b, lanes, locate.b)];
    const start = gather(types.c, c, lanes, locate.c);
    for (const lane of lanes) {
      for (let i = 0; i < count; i++) {
        const [row, column] = locate.d(lane, i);
        let sum = start.get([row, column].join())!;
        for (let e = 0; e < k; e++) {
          // Elements of a sparse matrix that are not present are zero.
          const x = left.get(`${row},${e}`) ?? (isSparse ? 0 : Number.NaN);
          sum += term(mods, x, right.get(`${e},${column}`)!) * scales(row, column, e / k);
        }
        if (mods["satfinite"] === true) sum = Math.min(Math.max(sum, -(2 ** 31)), 2 ** 31 - 1);
        const register = result[Math.floor(i / parts)]!;
        register[lane] = register[lane]! | (encode(types.d, sum) << BigInt((i % parts) * bits));
      }
    }
  }
  return result;
}

function term(mods: ChosenModifiers, x: number, y: number): number {
  const { bitOp } = mods;
  if (bitOp === "xor") return x ^ y;
  return bitOp === "and" ? x & y : x * y;
}

/**
 * The factors of an element of A and of B in a row, a column and a part of k (section 9.7.14.3). `operands`: the scales
 * of A, their byte and thread, and the same for B.
 */
function scalesOf(opcode: string, operands: readonly Registers[]) {
  const vector = /scale_vec::(\d)X/.exec(opcode)?.[1] ?? (opcode.includes("mxf8f6f4") ? 1 : 2);
  const format = opcode.slice(opcode.lastIndexOf(".") + 1);
  const value = (pattern: number): number =>
    format === "ue8m0" ? 2 ** (pattern - 127) : decode("e4m3", BigInt(pattern));
  const [dataA, byteA, threadA, dataB, byteB, threadB] = operands.flat();
  const pick = (word: bigint, byte: bigint, part: number): number =>
    value(Number((word >> (8n * (byte + BigInt(Math.floor(part * Number(vector)))))) & 0xffn));
  return (row: number, column: number, part: number): number => {
    // "that of row g comes from lane 4g + 2 * thread-id, of row g + 8 from the next lane"
    const laneA = 4 * (row % 8) + 2 * Number(threadA![0]) + (row < 8 ? 0 : 1);
    const laneB = 4 * column + Number(threadB![0]);
    return pick(dataA![laneA]!, byteA![0]!, part) * pick(dataB![laneB]!, byteB![0]!, part);
  };
}

interface Locations {
  readonly a: Locate;
  readonly b: Locate;
  readonly c: Locate;
  readonly d: Locate;
}

function locations(name: string): Locations {
  const { a, b, c } = manualFragments[name]!;
  const inLane =
    (formula: typeof a): Locate =>
    (lane, i) =>
      formula(lane >> 2, lane % 4, i);
  return { a: inLane(a), b: inLane(b), c: inLane(c), d: inLane(c) };
}

function quarterLocations({ alayout, blayout }: ChosenModifiers, { c, d }: Types): Locations {
  const { aRow, aColumn, bRow, bColumn, c16, c32 } = quarterFragments;
  return {
    a: alayout === "row" ? aRow : aColumn,
    b: blayout === "row" ? bRow : bColumn,
    c: c === "f16" ? c16 : c32,
    d: d === "f16" ? c16 : c32,
  };
}
