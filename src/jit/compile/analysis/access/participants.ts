import type { Instruction, WarpOp } from "../../../../ir/index.ts";
import type { Participants } from "../../../../ir/uniformity/surroundings.ts";
import { lanesOf, type LaunchShape } from "../../../abi/launch-shape.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import { type ThreadFacts, threadFactsOf } from "./reaching-threads.ts";

/** Operations of warps that need nothing but the lanes' values. */
export const exchanges: ReadonlySet<WarpOp["op"]> = new Set<WarpOp["op"]>([
  "shfl",
  "vote",
  "match",
  "redux",
  "elect",
  "sync",
]);

const warp = 32;

/**
 * By block that begins with an operation of a warp, the lanes that come to it, if in each warp they are those that they
 * name: in `if (tid.x < 8) __shfl_sync(0xff, ...)` nobody waits for anybody, provided that these come together. Null
 * where thread numbers alone do not say who comes, or which lanes are named, and in code for blocks of any size.
 */
export function participantsIn(
  { ir, instructions, graph }: PreparedCode,
  shape: LaunchShape,
  bindings: Bindings,
): (block: number) => Participants | null {
  const { block, width } = shape;
  if (block === null || width !== null || lanesOf(shape) !== warp) return () => null;
  let facts: ThreadFacts | null = null;
  const known = new Map<bigint, Participants>();
  return (index) => {
    const instruction = instructions[graph.blocks[index]!.start]!;
    if (!isExchange(instruction)) return null;
    facts ??= threadFactsOf({ ...ir, instructions }, block, bindings);
    const coming = facts.comingTo(graph.blocks[index]!.start).bits;
    if (!isNamedIn(instruction, coming, facts)) return null;
    let found = known.get(coming);
    if (found === undefined) known.set(coming, (found = { divides: dividing(graph, instructions, coming, facts) }));
    return found;
  };
}

/** Whether an instruction is an operation of lanes that name each other. */
const isExchange = ({ op, guard, lanes }: Instruction): boolean =>
  op.kind === "warp" && op.mask !== null && exchanges.has(op.warp.op) && guard === null && lanes === undefined;

/** Whether the threads that come to an operation name, in each warp, each other and nobody else who is there. */
function isNamedIn({ op }: Instruction, coming: bigint, { values, all }: ThreadFacts): boolean {
  const masks = op.kind === "warp" && op.mask !== null && values !== null ? values.of(op.mask) : null;
  if (masks === null) return false;
  return masks.every((mask, thread) => {
    if (((coming >> BigInt(thread)) & 1n) === 0n) return true;
    const named = BigInt(mask >>> 0) & inWarp(all.bits, thread);
    return named === inWarp(coming, thread);
  });
}

/** The threads of a set that are in the warp of a thread, by lane. */
const inWarp = (threads: bigint, thread: number): bigint =>
  BigInt.asUintN(warp, threads >> BigInt(thread - (thread % warp)));

/**
 * Whether the end of a block sends some of these threads another way than others of their warp; null where their
 * numbers do not decide it.
 */
function dividing(
  graph: PreparedCode["graph"],
  instructions: readonly Instruction[],
  threads: bigint,
  { at, comingTo, decides }: ThreadFacts,
): (block: number) => boolean | null {
  return (block) => {
    const last = graph.blocks[block]!.end - 1;
    const { op, guard, lanes } = instructions[last]!;
    if (guard === null || lanes !== undefined || op.kind === "branch-indexed" || !decides(guard)) return null;
    const coming = comingTo(last).bits & threads;
    const passing = at(last).bits & threads;
    for (let rest = coming, p = passing; rest !== 0n; rest >>= BigInt(warp), p >>= BigInt(warp)) {
      const some = BigInt.asUintN(warp, p);
      if (some !== 0n && some !== BigInt.asUintN(warp, rest)) return true;
    }
    return false;
  };
}
