import { isIndirect } from "../../../ir/calls.ts";
import { stateHeaderBytes } from "../../abi/chunk-state.ts";
import type { BarrierPlaces } from "../../../ir/flow/barrier-meetings.ts";
import { spinLoops } from "../../../ir/flow/spin-loops.ts";
import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";

/** What the lanes of an activation wait for: to be released from a barrier, or, some of them, for a turn. */
export const suspensionReason: Readonly<Record<SuspensionKind, number>> = { barrier: 1, yield: 2 };

/** Why lanes suspend in the middle of a kernel: for the other threads of the block, or to let others run. */
export type SuspensionKind = "barrier" | "yield";

/** Where they suspend: at a barrier, in a loop, or in a function that is suspended at one or in one. */
export type SuspensionPlace = "barrier" | "loop" | "call at a barrier" | "call in a loop";

export const kindOf = {
  barrier: "barrier",
  loop: "yield",
  "call at a barrier": "barrier",
  "call in a loop": "yield",
} as const satisfies Record<SuspensionPlace, SuspensionKind>;

/** Where the lanes of a function may suspend. */
export interface SuspensionPoints {
  /** By the block that ends with a barrier, the block after it, or to which that one only jumps. */
  readonly barriers: ReadonlyMap<number, number>;
  /** First blocks of loops that may wait for what other threads do. */
  readonly spins: ReadonlySet<number>;
  /** Those of them in which lanes yield in each round: the answer is the same until others have had their turn. */
  readonly polls: ReadonlySet<number>;
  /** Blocks that are calls of functions which may suspend. */
  readonly calls: ReadonlySet<number>;
  /** Calls from which some lanes may return while others are suspended in what they have called. */
  readonly partialReturns: ReadonlySet<number>;
  /** Whether the host counts arrivals, since there are other barriers than the one for all threads. */
  readonly isCounted: boolean;
}

/** The facts about calls that suspension points depend on. */
type Calls = Pick<CallGraph, "seesOthers" | "maySuspend" | "targetsOf" | "countsBarriers" | "isLockstep">;

/** Finds the suspension points of a function. `partial`: functions from which some lanes may return before others. */
export function suspensionPointsOf(
  { graph, instructions }: PreparedCode,
  callGraph: Calls,
  partial: ReadonlySet<CompiledFunction>,
): SuspensionPoints {
  const { seesOthers, maySuspend, countsBarriers, isLockstep } = callGraph;
  const barriers = barriersIn({ graph, instructions }, isLockstep);
  const calls = graph.blocks.flatMap(({ index, end }) => (maySuspend(instructions[end - 1]!) ? [index] : []));
  const { all: spins, polls } = spinLoops(graph, instructions, seesOthers);
  const partialReturns = calls.filter((index) => {
    const { op } = instructions[graph.blocks[index]!.end - 1]!;
    return op.kind === "call" && (isIndirect(op) || callGraph.targetsOf(op).some((f) => partial.has(f)));
  });
  return {
    barriers,
    spins,
    polls,
    calls: new Set(calls),
    partialReturns: new Set(partialReturns),
    isCounted: countsBarriers,
  };
}

/**
 * By the block that ends with a barrier, the one with which lanes go on: of a jump its target, if that is only theirs.
 * In a hardware thread the lanes that have jumped would wait there for others, which the jump itself makes them do.
 */
function barriersIn(
  { graph, instructions }: Pick<PreparedCode, "graph" | "instructions">,
  isLockstep: boolean,
): Map<number, number> {
  const barriers = new Map<number, number>();
  for (const { index, end } of graph.blocks) {
    if (instructions[end - 1]!.op.kind === "barrier") barriers.set(index, index + 1);
  }
  if (isLockstep) return barriers;
  const taken = new Set(barriers.values());
  for (const [block, next] of barriers) {
    const after = graph.blocks[next];
    const { op, guard, lanes } = instructions[after?.start ?? 0]!;
    if (after === undefined || after.end - after.start > 1 || op.kind !== "branch") continue;
    const to = graph.blockAt(op.target);
    if (guard !== null || lanes !== undefined || to >= graph.blocks.length || taken.has(to)) continue;
    taken.add(to);
    barriers.set(block, to);
  }
  return barriers;
}

/** The blocks at which suspended lanes resume. */
export const resumeBlocks = ({ barriers, spins, calls }: SuspensionPoints): ReadonlySet<number> =>
  new Set([...barriers.values(), ...spins, ...calls]);

/** Where lanes wait for barriers for all threads: nowhere, if there are others, or they are for hardware threads. */
export function barrierPlacesOf(
  { graph, instructions }: Pick<PreparedCode, "graph" | "instructions">,
  { barriers, spins, calls, isCounted }: SuspensionPoints,
  isLockstep: boolean,
): BarrierPlaces {
  if (isCounted || isLockstep) return { all: new Set(), released: new Set() };
  const all = new Set([...barriers.values(), ...calls]);
  const isBarrier = (block: number): boolean =>
    barriers.has(block) && instructions[graph.blocks[block]!.end - 1]!.guard === null;
  const released = [...barriers.values()].filter(
    (block) => !spins.has(block) && !calls.has(block) && (graph.blocks[block]?.predecessors ?? []).every(isBarrier),
  );
  return { all, released: new Set(released) };
}

/** The blocks at which lanes may be while they, or others of their chunk, are suspended. */
export function blocksWhileSuspended(
  { divergence }: UniformityAnalysis,
  points: SuspensionPoints,
  isLockstep: boolean,
): ReadonlySet<number> {
  const blocks = new Set(resumeBlocks(points));
  if (!isLockstep) return blocks;
  for (const w of divergence.waitingAnywhere()) blocks.add(w);
  return blocks;
}

/**
 * Bytes of the state in which a chunk of 4 * `quads` lanes, or a suspended frame, keeps what it resumes with: an upper
 * bound.
 */
export function stateBytesFor(
  analysis: UniformityAnalysis,
  points: SuspensionPoints,
  quads: number,
  isLockstep: boolean,
): number {
  const { code, register } = analysis;
  const { barriers, spins, calls } = points;
  const blocks = blocksWhileSuspended(analysis, points, isLockstep);
  const masks = barriers.size + spins.size + 2 * calls.size + (isLockstep ? blocks.size : 0);
  const live = new Set<number>();
  for (const block of blocks) {
    code.liveness.liveIn(block).forEach((r) => {
      live.add(r);
    });
  }
  const vector = 16 * quads;
  const bytesOf = (r: number): number => {
    const { kind } = register(r);
    if (kind === "vector") return code.ir.registers[r]!.class === "b64" ? 2 * vector : vector;
    // A row has eight lanes or more.
    return kind === "indexed" || kind === "rows" ? 8 + vector : 8;
  };
  const bytes = [...live].reduce((sum, r) => sum + bytesOf(r), masks * vector + 4 * calls.size);
  return Math.ceil((stateHeaderBytes + bytes) / 16) * 16;
}
