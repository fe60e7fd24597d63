import {
  chunkBytes,
  layoutOf,
  registersOfA,
  registersOfC,
  type SharedMatrixLayout,
  type UnitOpOf,
  type WarpgroupProduct,
  windows,
} from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { notWarpgroup } from "../instruction-faults.ts";
import { multiplyInWarpgroup, type ReadChunks } from "../warpgroup-product.ts";
import type { Range, UnitCall } from "./unit-call.ts";

/** Registers of D, of which each has a word in 32 lanes. */
const mostRegisters = 128;
const lanes = 32;
const result = new Int32Array(mostRegisters * lanes);
const inputs = {
  a: new Int32Array(4 * lanes),
  c: new Int32Array(mostRegisters * lanes),
  metadata: new Int32Array(lanes),
};

/**
 * A warp's part of the product of a warpgroup (section 9.7.15). It is performed at once: on a GPU, at some time before
 * the wait for its group. All lanes are here, and descriptors are the same in all.
 */
export function multiplyWarpgroup({ product }: UnitOpOf<"multiply-warpgroup">, call: UnitCall): void {
  const { left, sparsity } = product;
  const lane = lowestLane(call.lanes);
  const layout = (operand: number): SharedMatrixLayout => {
    const { low, high } = call.address(operand, lane);
    return layoutOf(low | 0, high | 0);
  };
  requireWarpgroup(call);
  const count = accumulatorRegisters(product);
  call.words(registersOfC(product), count, inputs.c);
  if (left.kind === "registers") call.words(registersOfA, 4, inputs.a);
  if (sparsity !== null) call.words(2, 1, inputs.metadata);
  multiplyInWarpgroup(
    product,
    {
      warp: call.x.warp.index,
      a: left.kind === "registers" ? inputs.a : layout(1),
      b: layout(0),
      metadata: sparsity === null ? null : inputs.metadata,
      c: inputs.c,
    },
    reader(call, lane),
    result,
  );
  call.giveWords(0, count, result);
}

/** Section 9.7.15.1: four warps, of which the first one's number is a multiple of four. */
function requireWarpgroup({ x, site, lanes: present }: UnitCall): void {
  const [bx, by, bz] = x.warp.cta.grid.block;
  const warps = Math.ceil((bx * by * bz) / lanes);
  if (x.warp.index >= warps - (warps % 4)) throw notWarpgroup(warps, { site, activation: x, lanes: present });
}

/** Registers of C or D in each lane. */
const accumulatorRegisters = ({ tile: { n, d } }: WarpgroupProduct): number => (d === "f16" ? n / 4 : n / 2);

/** Reads the block's shared memory for a lane. */
function reader(call: UnitCall, lane: number): ReadChunks {
  const range = (address: number, bytes: number): Range =>
    call.range({
      ...{ lane, effect: "load", space: "shared", bytes, align: chunkBytes },
      address: { low: windows.shared.start + address, high: 0 },
    });
  return (addresses, count, into) => {
    const whole = call.x.warp.cta.grid.observers === null ? spanOf(addresses, count, range) : null;
    for (let i = 0; i < count; i++) {
      const address = addresses[i]!;
      const { views, at } = whole?.range ?? range(address, chunkBytes);
      const from = (whole === null ? at : at + address - whole.first) >>> 2;
      const { i32 } = views;
      for (let word = 0; word < chunkBytes / 4; word++) into[4 * i + word] = i32[from + word]!;
    }
  };
}

interface Span {
  readonly first: number;
  readonly range: Range;
}

/**
 * All bytes between the first and the last chunk, which nearly always lie in one variable. Null if they do not. Where
 * accesses are observed, those in between must not be shown as read.
 */
function spanOf(addresses: Int32Array, count: number, range: (address: number, bytes: number) => Range): Span | null {
  let [first, last] = [addresses[0]!, addresses[0]!];
  for (let i = 1; i < count; i++) {
    const address = addresses[i]!;
    if (address < first) first = address;
    else if (address > last) last = address;
  }
  try {
    return { first, range: range(first, last + chunkBytes - first) };
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}
