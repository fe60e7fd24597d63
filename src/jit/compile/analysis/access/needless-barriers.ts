import { type FlowGraph, flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { accessesOf, type Instruction, type IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { isBarrier } from "../code/source-code.ts";
import { type BarrierRegion, regionFrom } from "../flow/barrier-regions.ts";
import { type ThreadFacts, threadFactsOf } from "./reaching-threads.ts";

/** Kernels with more instructions or barriers are not examined, nor regions with more accesses. */
const most = { instructions: 2000, barriers: 64, accesses: 64 };

/** Bytes from `start` on, up to `end`. */
interface Bytes {
  readonly start: number;
  readonly end: number;
}

/** An access to shared memory. */
interface Touch {
  readonly writes: boolean;
  readonly bytes: number;
  readonly align: number;
  /** By thread, where it begins: -1 for a thread that does not come there. Null where it is not known. */
  readonly starts: readonly number[] | null;
}

/**
 * The barriers that make no difference where the threads of a block go through the code before and after it one after
 * the other, in their order: no thread accesses after the barrier what a later one accesses before it, one of them
 * writing, as where each reads its successor's word and then writes its own. Nothing else may come between: what
 * follows the barrier can only access shared memory, and not fail, so that the first fault stays the same. `extents`:
 * the variables of shared memory. Given that all threads go the same way from barrier to barrier, chunks need not wait
 * there.
 */
export function needlessBarriersOf(
  ir: IrFunction,
  block: Dim3,
  bindings: Bindings,
  extents: readonly Bytes[],
): readonly number[] {
  const { instructions } = ir;
  const barriers = instructions.flatMap(({ op }, i) => (op.kind === "barrier" ? [i] : []));
  if (barriers.length > most.barriers || !barriers.every((i) => isWhole(instructions[i]!))) return [];
  if (barriers.length === 0 || instructions.length > most.instructions || block[0] * block[1] * block[2] <= 32)
    return [];
  const graph = flowGraphOf(instructions, { endsBlock: isBarrier });
  const waits = new Map(barriers.map((i) => [graph.blockAt(i), graph.blockAt(i) + 1]));
  const facts = threadFactsOf(ir, block, bindings);
  // Most accesses lie in the regions before and after several barriers.
  const known = new Map<number, readonly Touch[]>();
  const touchesAt = (i: number): readonly Touch[] => {
    let touches = known.get(i);
    if (touches === undefined) known.set(i, (touches = sharedTouches(instructions[i]!, facts, i)));
    return touches;
  };
  const touchesIn = (blocks: Iterable<number>): readonly Touch[] | null => {
    const found: Touch[] = [];
    for (const index of blocks) {
      const { start, end } = graph.blocks[index]!;
      for (let i = start; i < end; i++) {
        if (!isPlain(instructions[i]!)) return null;
        found.push(...touchesAt(i));
      }
    }
    return found.length > most.accesses ? null : found;
  };
  const isSafe = (blocks: Iterable<number>, touches: readonly Touch[]): boolean =>
    touches.every((touch) => isWithin(touch, extents)) &&
    [...blocks].every((index) => {
      const { start, end } = graph.blocks[index]!;
      return instructions.slice(start, end).every(accessesOnlyShared);
    });
  const needless: number[] = [];
  for (const [before, after] of [...waits]) {
    if (after >= graph.blocks.length) continue;
    const next = regionFrom(graph, after, waits);
    const starts = [0, ...waits.values()].filter((start) => start < graph.blocks.length);
    const earlier = new Set(starts.flatMap((start) => waysTo(graph, before, regionFrom(graph, start, waits), waits)));
    const [first, second] = [touchesIn(earlier), touchesIn(next.blocks)];
    if (
      first === null ||
      second === null ||
      !isSafe(next.blocks, second) ||
      meet(first, second, block[0] * block[1] * block[2])
    )
      continue;
    needless.push(graph.blocks[before]!.end - 1);
    waits.delete(before);
  }
  return needless;
}

/** The blocks of a region on the ways to the barrier that ends block `at`: threads at it were in no others. */
function waysTo(
  { blocks }: FlowGraph,
  at: number,
  region: BarrierRegion,
  waits: ReadonlyMap<number, number>,
): readonly number[] {
  const found = new Set(region.blocks.has(at) ? [at] : []);
  for (const block of found) {
    for (const p of blocks[block]!.predecessors) if (region.blocks.has(p) && !waits.has(p)) found.add(p);
  }
  return [...found];
}

/** Whether a barrier is the one for all threads of a block. */
const isWhole = ({ op, guard }: Instruction): boolean =>
  op.kind === "barrier" && guard === null && op.mode === "sync" && op.count === null && op.reduce === null;

/** Whether an instruction does nothing that others could see, but for plain loads and stores. */
function isPlain({ op, lanes }: Instruction): boolean {
  if (lanes !== undefined) return false;
  if (op.kind === "load" || op.kind === "store")
    return op.place.kind === "address" && !op.access.volatile && op.access.order === "weak";
  return ["pure", "nothing", "fence", "branch", "return", "exit", "barrier"].includes(op.kind);
}

/** Whether an instruction accesses nothing but shared memory and parameters of the kernel. */
const accessesOnlyShared = ({ op }: Instruction): boolean =>
  accessesOf(op).every(
    ({ access, place }) =>
      access.space === "shared" ||
      (access.space === "kernel-param" && place.kind === "address" && place.address.kind === "const"),
  );

/** The accesses of an instruction that may be to shared memory. */
function sharedTouches({ op }: Instruction, { at, values }: ThreadFacts, instruction: number): readonly Touch[] {
  const threads = at(instruction);
  return accessesOf(op).flatMap(({ effect, access: { space, bits, count, align }, place }) => {
    if (space !== "shared" && space !== "generic") return [];
    const address: Expr | null = place.kind === "address" && space === "shared" ? place.address : null;
    const starts =
      address === null ? null : (values?.of(address)?.map((start, t) => (threads.has(t) ? start : -1)) ?? null);
    return [{ writes: effect !== "load", bytes: (bits / 8) * count, align, starts }];
  });
}

/** Whether the access of each thread that comes there lies within a variable, and is aligned. */
const isWithin = ({ starts, bytes, align }: Touch, extents: readonly Bytes[]): boolean =>
  starts?.every(
    (at) => at < 0 || (at % align === 0 && extents.some(({ start, end }) => at >= start && at + bytes <= end)),
  ) === true;

/** Whether a thread accesses by `later` what one after it accesses by `earlier`, and one of them writes. */
function meet(earlier: readonly Touch[], later: readonly Touch[], threads: number): boolean {
  const conflicts = (a: { readonly writes: boolean }, writes: boolean): boolean => a.writes || writes;
  if (earlier.some((a) => a.starts === null && later.some((b) => conflicts(a, b.writes)))) return true;
  const [read, written] = [new Set<number>(), new Set<number>()];
  for (let t = 0; t < threads; t++) {
    for (const { starts, bytes, writes } of earlier) {
      const start = starts?.[t] ?? -1;
      for (let at = start, end = start < 0 ? start : start + bytes; at < end; at++) {
        if (written.has(at) || (writes && read.has(at))) return true;
      }
    }
    for (const { starts, bytes, writes } of later) {
      const start = starts![t]!;
      for (let at = start, end = start < 0 ? start : start + bytes; at < end; at++) (writes ? written : read).add(at);
    }
  }
  return false;
}
