import {
  chunkBytes,
  layoutOf,
  registersOfA,
  registersOfC,
  type UnitOpOf,
  type WarpgroupProduct,
  windows,
} from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import { multiplyInWarpgroup, type ReadChunk } from "../warpgroup-product.ts";
import type { UnitCall } from "./unit-call.ts";

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
  const layout = (operand: number) => {
    const { low, high } = call.address(operand, lane);
    return layoutOf(low | 0, high | 0);
  };
  const count = accumulatorRegisters(product);
  registers(call, registersOfC(product), count, inputs.c);
  if (left.kind === "registers") registers(call, registersOfA, 4, inputs.a);
  if (sparsity !== null) registers(call, 2, 1, inputs.metadata);
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
  for (let n = 0; n < count; n++) for (let l = 0; l < lanes; l++) call.give(n, l, result[n * lanes + l]!);
}

/** Registers of C or D in each lane. */
const accumulatorRegisters = ({ tile: { n, d } }: WarpgroupProduct): number => (d === "f16" ? n / 4 : n / 2);

function registers(call: UnitCall, first: number, count: number, into: Int32Array): void {
  for (let n = 0; n < count; n++)
    for (let lane = 0; lane < lanes; lane++) into[n * lanes + lane] = call.word(first + n, lane);
}

/** Reads the block's shared memory for a lane. */
function reader(call: UnitCall, lane: number): ReadChunk {
  const request = { lane, effect: "load", space: "shared", bytes: chunkBytes, align: chunkBytes } as const;
  return (address, into, to) => {
    const { views, at } = call.range({ ...request, address: { low: windows.shared.start + address, high: 0 } });
    for (let i = 0; i < chunkBytes / 4; i++) into[to + i] = views.i32[(at >>> 2) + i]!;
  };
}
