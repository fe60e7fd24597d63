import { clusterWindows, type TensorKind, windows } from "../../src/ir/index.ts";
import type { Views } from "../../src/machine/memory/views.ts";
import { TensorMemory } from "../../src/program/units/tensor/tensor-memory.ts";
import type { UnitCall } from "../../src/program/units/unit-call.ts";
import { pairsOfFour } from "../pairs-of-four.ts";

/*
 * Where matrices lie in shared and tensor memory, written from the manual: sections 9.7.16.3.3 (canonical layouts) and
 * 9.7.16.10.8 (metadata).
 */

export type Swizzle = 16 | 32 | 64 | 128 | "128/32";

export interface Operand {
  readonly swizzle: Swizzle;
  /** Lines go along k; else across. */
  readonly kMajor: boolean;
}

/** The byte of an element: `mn` is a row of A or a column of B, of which there are `count`; `bits` of an element. */
export function byteOf(
  { swizzle, kMajor }: Operand,
  [mn, k]: readonly [number, number],
  count: number,
  bits: number,
  depth: number,
): number {
  const [along, across, length] = kMajor ? [k, mn, depth] : [mn, k, count];
  const byte = (along * bits) / 8;
  const lineBytes = (length * bits) / 8;
  if (swizzle === 16) {
    // Cores of 8 lines of 16 bytes; those along a line follow each other, then those of the next 8 lines.
    const cores = lineBytes / 16;
    return Math.floor(across / 8) * cores * 128 + Math.floor(byte / 16) * 128 + (across % 8) * 16 + (byte % 16);
  }
  const width = swizzle === "128/32" ? 128 : swizzle;
  const lines = kMajor ? count : depth;
  // Panels of `width` bytes along the lines, each with all lines.
  const plain = Math.floor(byte / width) * lines * width + across * width + (byte % width);
  const row = (plain >> 7) & 7;
  switch (swizzle) {
    case 32:
      return plain ^ ((row & 1) << 4);
    case 64:
      return plain ^ ((row & 3) << 4);
    case 128:
      return plain ^ (row << 4);
    case "128/32":
      return plain ^ ((row & 3) << 5);
  }
}

const codes: Readonly<Record<string, bigint>> = { 16: 0n, 32: 6n, 64: 4n, 128: 2n, "128/32": 1n };

/** The descriptor of a matrix that lies so, from a byte of shared memory on. */
export function descriptor(
  { swizzle, kMajor }: Operand,
  start: number,
  count: number,
  bits: number,
  depth: number,
): bigint {
  const lineBytes = ((kMajor ? depth : count) * bits) / 8;
  const width = swizzle === "128/32" ? 128 : swizzle;
  let [leading, stride] = [0, 0];
  if (swizzle === 16) {
    // K-major: along k, then to the next 8 lines; MN-major: the other way round.
    const [next, group] = [128, (lineBytes / 16) * 128];
    [leading, stride] = kMajor ? [next, group] : [group, next];
  } else {
    const lines = kMajor ? count : depth;
    [leading, stride] = [lines * width, (swizzle === "128/32" ? 4 : 8) * width];
  }
  return (
    BigInt(start >> 4) |
    (BigInt((leading >> 4) & 0x3fff) << 16n) |
    (BigInt((stride >> 4) & 0x3fff) << 32n) |
    (1n << 46n) |
    (codes[swizzle]! << 61n)
  );
}

/** Elements of a type: bits of a cell, and the pattern of an integer from -2 to 2. */
export interface Type {
  readonly code: number;
  readonly bits: number;
  readonly pattern: (value: number) => number;
}

const signed = (bits: number, patterns: readonly number[]) => (value: number) =>
  patterns[Math.abs(value)]! | (value < 0 ? 1 << (bits - 1) : 0);

export const types = {
  f16: { code: 0, bits: 16, pattern: signed(16, [0, 0x3c00, 0x4000]) },
  bf16: { code: 1, bits: 16, pattern: signed(16, [0, 0x3f80, 0x4000]) },
  tf32: { code: 2, bits: 32, pattern: signed(32, [0, 0x3f80_0000, 0x4000_0000]) },
  e4m3: { code: 0, bits: 8, pattern: signed(8, [0, 0x38, 0x40]) },
  e5m2: { code: 1, bits: 8, pattern: signed(8, [0, 0x3c, 0x40]) },
  e2m3: { code: 3, bits: 6, pattern: signed(6, [0, 0x8, 0x10]) },
  e3m2: { code: 4, bits: 6, pattern: signed(6, [0, 0xc, 0x10]) },
  e2m1: { code: 5, bits: 4, pattern: signed(4, [0, 0x2, 0x4]) },
  fp4: { code: 1, bits: 4, pattern: signed(4, [0, 0x2, 0x4]) },
  s8: { code: 1, bits: 8, pattern: (value: number) => value & 0xff },
} as const satisfies Readonly<Record<string, Type>>;

export const depths: Readonly<Record<TensorKind, number>> = {
  f16: 16,
  tf32: 8,
  f8f6f4: 32,
  i8: 32,
  mxf8f6f4: 32,
  mxf4: 64,
  mxf4nvf4: 64,
};

/** Numbers that look random, from 0 to below `limit`. */
export function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

export const columns = { d: 0, a: 256, metadata: 320, scaleA: 336, scaleB: 352 } as const;
export const startB = 64 * 1024;

/** The memory of a block, alone or one of a pair, and operands of an instruction. */
export class Machine {
  readonly shared = new Uint8Array(256 * 1024);
  readonly memory = new TensorMemory();
  readonly cta: object;
  operands: readonly bigint[] = [];
  readonly #blocks: readonly Machine[];

  /** `blocks`: those of the cluster, which has one of this rank, once it is complete. */
  constructor(blocks: readonly Machine[] = [], rank = 0) {
    this.memory.take(0, 512, {} as never);
    this.#blocks = blocks;
    const units = { late: false, of: () => this.memory };
    const cluster = { size: blocks.length, block: (r: number) => blocks[r]?.cta ?? null };
    this.cta = { grid: { matrix: "hardware" }, rank, units, cluster };
  }

  get call(): UnitCall {
    const word = (n: number): number => Number(BigInt.asIntN(32, this.operands[n]!));
    return {
      x: { warp: { index: 0, cta: this.cta } },
      site: {},
      lanes: 1,
      word,
      address: (n: number) => ({
        low: word(n) >>> 0,
        high: Number(BigInt.asUintN(32, this.operands[n]! >> 32n)),
      }),
      give: () => {},
      range: ({ address, space }: { address: { low: number }; space: string }) => {
        const { ranks, stride } = clusterWindows;
        const rank = space === "shared" ? null : Math.floor((address.low - ranks) / stride);
        const shared = rank === null ? this.shared : this.#blocks[rank]!.shared;
        const start = rank === null ? windows.shared.start : ranks + rank * stride;
        return { views: { u8: shared } as unknown as Views, at: address.low - start };
      },
      touch: () => {},
    } as unknown as UnitCall;
  }

  /** Sets bits of shared memory, which were 0, counted from a byte. */
  pack(at: number, bit: number, bits: number, value: number): void {
    for (let i = 0; i < bits; i++) {
      this.shared[at + ((bit + i) >> 3)]! |= ((value >>> i) & 1) << ((bit + i) & 7);
    }
  }

  /** Sets bits of tensor memory, counted from a column of a lane. */
  put(lane: number, column: number, bit: number, bits: number, value: number): void {
    const at = lane * 512 + column + (bit >> 5);
    const mask = bits === 32 ? -1 : (1 << bits) - 1;
    const shift = bit & 31;
    this.memory.words[at] = (this.memory.words[at]! & ~(mask << shift)) | ((value & mask) << shift);
  }
}

/** The elements along k that a row has, and its metadata (section 9.7.16.10.8). */
export function sparsePlaces(kind: TensorKind, k: number, random: (limit: number) => number) {
  const [at, bits]: [number[], number[]] = [[], []];
  const pairs = kind === "mxf4" || kind === "mxf4nvf4";
  const size = kind === "tf32" ? 2 : pairs ? 8 : 4;
  for (let group = 0; group < k / size; group++) {
    if (kind === "tf32") {
      const chosen = random(2);
      at.push(2 * group + chosen);
      bits.push(chosen === 1 ? 0b1110 : 0b0100);
      continue;
    }
    const [first, second] = pairsOfFour[random(6)]!;
    bits.push(first | (second << 2));
    for (const one of [first, second]) {
      if (pairs) at.push(size * group + 2 * one, size * group + 2 * one + 1);
      else at.push(size * group + one);
    }
  }
  return { at, bits };
}

const view = new DataView(new ArrayBuffer(4));

export function f32(value: number): number {
  view.setFloat32(0, value);
  return view.getUint32(0);
}

/** The pattern of an integer below 2048. */
export function f16(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.floor(Math.log2(Math.abs(value)));
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | ((Math.abs(value) / 2 ** exponent - 1) * 1024);
}
