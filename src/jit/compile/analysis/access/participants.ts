import type { Instruction, WarpOp } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { Participants } from "../../../../ir/uniformity/surroundings.ts";
import { lanesOf, type LaunchShape } from "../../../abi/launch-shape.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import { foundOnce } from "./noted.ts";
import { type ThreadFacts, threadFactsOf, threadsIn } from "./reaching-threads.ts";

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
 * name: in `if (tid.x < 8) __shfl_sync(0xff, ...)` nobody waits for anybody, provided that these come together. So it
 * is with groups each of which names itself, as tiles do by `0xff << (laneid & 24)`. Null where thread numbers alone do
 * not say who comes, or which lanes are named, and in code for blocks of any size.
 */
export function participantsIn(
  { ir, instructions, graph, liveness, writes }: PreparedCode,
  shape: LaunchShape,
  bindings: Bindings,
): (block: number) => Participants | null {
  const { block, width } = shape;
  if (block === null || width !== null || lanesOf(shape) !== warp) return () => null;
  let facts: ThreadFacts | null = null;
  const known: Record<Naming, Map<bigint, Participants>> = { eachOther: new Map(), ownGroup: new Map() };
  const isWritten = (r: number): boolean => writes[r] === 1 && !liveness.liveIn(0).has(r);
  const ballotOf: BallotOf = (register) => {
    if (!isWritten(register)) return null;
    const at = instructions.findIndex((i) => isBallot(i) && i.dst[0] === register);
    return at < 0 ? null : { at, instruction: instructions[at]! };
  };
  return (index) => {
    const instruction = instructions[graph.blocks[index]!.start]!;
    if (!isExchange(instruction)) return null;
    facts ??= threadFactsOf({ ...ir, instructions }, block, bindings);
    const coming = facts.comingTo(graph.blocks[index]!.start).bits;
    const naming = namingIn(instruction, coming, facts, ballotOf);
    if (naming === null) return null;
    return foundOnce(known[naming], coming, () => ({
      areApart: naming === "ownGroup",
      divides: dividing(graph, instructions, coming, facts!),
    }));
  };
}

/** Whether an instruction is an operation of lanes that name each other. */
const isExchange = ({ op, guard, lanes }: Instruction): boolean =>
  op.kind === "warp" && op.mask !== null && exchanges.has(op.warp.op) && guard === null && lanes === undefined;

/** The ballot that alone writes a register, before it is read; null if there is none. */
type BallotOf = (register: number) => { readonly at: number; readonly instruction: Instruction } | null;

/** Whether an instruction is a ballot. */
const isBallot = (instruction: Instruction): boolean => {
  const { op } = instruction;
  return isExchange(instruction) && op.kind === "warp" && op.warp.op === "vote" && op.warp.mode === "ballot";
};

/** Whether lanes name all that come to an operation, or those of a group of which all name the same. */
type Naming = "eachOther" | "ownGroup";

/** How the threads that come to an operation name each other, and nobody else who is there; null where they do not. */
function namingIn({ op }: Instruction, coming: bigint, facts: ThreadFacts, ballotOf: BallotOf): Naming | null {
  if (op.kind !== "warp" || op.mask === null) return null;
  const named = namedBy(op.mask, coming, facts, ballotOf);
  if (named === null) return null;
  const present = (thread: number): bigint => named(thread) & inWarp(facts.all.bits, thread);
  if (everyThread(coming, (thread) => present(thread) === inWarp(coming, thread))) return "eachOther";
  const isOwn = (thread: number): boolean => {
    const lanes = present(thread);
    const first = thread - (thread % warp);
    const isAmongThem = ((lanes >> BigInt(thread - first)) & 1n) === 1n;
    const haveCome = (lanes & ~inWarp(coming, thread)) === 0n;
    return isAmongThem && haveCome && everyThread(lanes, (lane) => named(first + lane) === named(thread));
  };
  return everyThread(coming, isOwn) ? "ownGroup" : null;
}

/** By thread, the lanes that a mask has, in threads that come to an operation; null where it is not known. */
function namedBy(
  mask: Expr,
  coming: bigint,
  facts: ThreadFacts,
  ballotOf: BallotOf,
): ((thread: number) => bigint) | null {
  const masks = facts.values?.of(mask) ?? null;
  if (masks !== null) return (thread) => BigInt(masks[thread]! >>> 0);
  const ballot = mask.kind === "reg" ? ballotOf(mask.reg) : null;
  if (ballot?.instruction.op.kind !== "warp") return null;
  // All that are named vote together, or nobody gets any further.
  const voters = facts.comingTo(ballot.at).bits;
  const votes = facts.values?.of(ballot.instruction.op.warp.operands[0]!) ?? null;
  const naming = namingIn(ballot.instruction, voters, facts, () => null);
  const isByAll = (coming & ~voters) === 0n && naming === "eachOther";
  if (votes === null || !isByAll) return null;
  const inFavour = voters & threadsIn(votes);
  return (thread) => inWarp(inFavour, thread);
}

function everyThread(threads: bigint, holds: (thread: number) => boolean): boolean {
  for (let thread = 0, rest = threads; rest !== 0n; thread++, rest >>= 1n) {
    if ((rest & 1n) === 1n && !holds(thread)) return false;
  }
  return true;
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
