import {
  chunkBytes,
  layoutOf,
  productOperands,
  registersOfC,
  type SharedMatrixLayout,
  type UnitOpOf,
  type WarpgroupProduct,
  windows,
} from "../../ir/index.ts";
import { lowestLane } from "../../ir/lane-mask.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { productIn } from "../exact-product.ts";
import { notWarpgroup } from "../instruction-faults.ts";
import type { ReadChunks } from "../warpgroup-inputs.ts";
import { multiplyInWarpgroup } from "../warpgroup-product.ts";
import { isLate, issueUncounted } from "./effect.ts";
import type { Range, UnitCall } from "./unit-call.ts";

/** Registers of D, of which each has a word in 32 lanes. */
const mostRegisters = 128;
const lanes = 32;
const result = new Int32Array(mostRegisters * lanes);
const inputs = {
  a: new Int32Array(4 * lanes),
  c: new Int32Array(mostRegisters * lanes),
};

/**
 * A warp's part of the product of a warpgroup (section 9.7.15). All lanes are here, and descriptors are the same in
 * all.
 * On a GPU it is performed at some time before the wait for its group: here at once, or as late as the schedule wants.
 */
export function multiplyWarpgroup(op: UnitOpOf<"multiply-warpgroup">, call: UnitCall): void {
  requireWarpgroup(call);
  const product = productOf(op.product, call);
  const { left, sparsity } = product;
  const lane = lowestLane(call.lanes);
  const layout = (operand: number): SharedMatrixLayout => {
    const { low, high } = call.address(operand, lane);
    return layoutOf(low | 0, high | 0);
  };
  const a = left.kind === "registers" ? null : layout(productOperands.a);
  const b = layout(productOperands.b);
  const metadata = sparsity === null ? null : new Int32Array(lanes);
  if (metadata !== null) call.words(productOperands.metadata, 1, metadata);
  const warp = call.x.warp.index;
  const multiply = (read: ReadChunks): void =>
    multiplyInWarpgroup(product, { warp, a: a ?? inputs.a, b, metadata, c: inputs.c }, read, result);
  const count = accumulatorRegisters(product);
  const seen: Chunks | null = isLate(call) ? new Map() : null;
  call.words(registersOfC(product), count, inputs.c);
  if (a === null) call.words(productOperands.registersOfA, 4, inputs.a);
  multiply(reader(call, lane, seen));
  if (seen === null) call.giveWords(0, count, result);
  else
    issueUncounted(
      call,
      "products",
      lateProduct(call, product, () => multiply(readAgain(seen))),
      0,
    );
}

/** The product again, of what the registers hold when it takes effect. */
function lateProduct(call: UnitCall, product: WarpgroupProduct, multiply: () => void): () => void {
  const accumulates = new Int32Array(lanes);
  call.words(productOperands.accumulates, 1, accumulates);
  const kept = call.kept();
  const count = accumulatorRegisters(product);
  return () => {
    if (product.left.kind === "registers") kept.words(productOperands.registersOfA, 4, inputs.a);
    kept.resultWords(0, count, inputs.c);
    for (let i = 0; i < count * lanes; i++) if (accumulates[i % lanes] === 0) inputs.c[i] = 0;
    multiply();
    kept.giveWords(0, count, result);
  };
}

const exact = new WeakMap<WarpgroupProduct, WarpgroupProduct>();

/** The product as the launch computes it. */
function productOf(product: WarpgroupProduct, { x }: UnitCall): WarpgroupProduct {
  const tile = productIn(x.warp.cta.grid, product.tile);
  if (tile === product.tile) return product;
  let found = exact.get(product);
  if (found === undefined) exact.set(product, (found = { ...product, tile }));
  return found;
}

/** Section 9.7.15.1: four warps, of which the first one's number is a multiple of four. */
function requireWarpgroup({ x, site, lanes: present }: UnitCall): void {
  const [bx, by, bz] = x.warp.cta.grid.block;
  const warps = Math.ceil((bx * by * bz) / lanes);
  if (x.warp.index >= warps - (warps % 4)) throw notWarpgroup(warps, { site, activation: x, lanes: present });
}

/** Registers of C or D in each lane. */
const accumulatorRegisters = ({ tile: { n, d } }: WarpgroupProduct): number => (d === "f16" ? n / 4 : n / 2);

/** Chunks of shared memory by their addresses. */
type Chunks = Map<number, Range>;

/** Reads the block's shared memory for a lane, and notes in `seen` where the chunks are. */
function reader(call: UnitCall, lane: number, seen: Chunks | null): ReadChunks {
  const range = (address: number, bytes: number): Range =>
    call.range({
      ...{ lane, effect: "load", space: "shared", bytes, align: chunkBytes },
      address: { low: windows.shared.start + address, high: 0 },
    });
  return (addresses, count, into) => {
    const whole = call.x.warp.cta.grid.observers === null ? spanOf(addresses, count, range) : null;
    if (whole !== null && seen === null) {
      copyChunks(whole, addresses, count, into);
      return;
    }
    for (let i = 0; i < count; i++) {
      const address = addresses[i]!;
      const { views, at: start } = whole?.range ?? range(address, chunkBytes);
      const at = whole === null ? start : start + address - whole.first;
      seen?.set(address, { views, at });
      copyChunk({ views, at }, into, i);
    }
  };
}

/** Reads chunks that have been seen, as they are now. */
const readAgain =
  (seen: Chunks): ReadChunks =>
  (addresses, count, into) => {
    for (let i = 0; i < count; i++) copyChunk(seen.get(addresses[i]!)!, into, i);
  };

function copyChunk({ views: { i32 }, at }: Range, into: Int32Array, chunk: number): void {
  for (let word = 0; word < chunkBytes / 4; word++) into[4 * chunk + word] = i32[(at >>> 2) + word]!;
}

/** Copies chunks of a range: the usual case, and the quickest. */
function copyChunks({ first, range }: Span, addresses: Int32Array, count: number, into: Int32Array): void {
  const { i32 } = range.views;
  const start = range.at - first;
  for (let i = 0; i < count; i++) {
    const from = (start + addresses[i]!) >>> 2;
    const to = 4 * i;
    into[to] = i32[from]!;
    into[to + 1] = i32[from + 1]!;
    into[to + 2] = i32[from + 2]!;
    into[to + 3] = i32[from + 3]!;
  }
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
