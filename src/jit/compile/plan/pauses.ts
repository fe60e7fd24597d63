import { isIndirect } from "../../../ir/calls.ts";
import { stateHeaderBytes } from "../../abi/chunk-state.ts";
import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import { spinLoops } from "../analysis/flow/spin-loops.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import type { CallGraph } from "./call-graph.ts";
import type { CompiledFunction } from "./callables.ts";

/** For what the lanes of an activation wait: to be let go behind a barrier, or, some of them, for a turn. */
export const suspensionReason: Readonly<Record<SuspensionKind, number>> = { barrier: 1, yield: 2 };

/** Why lanes stop in the middle of a kernel: for the other threads of the block, or to let others run. */
export type SuspensionKind = "barrier" | "yield";

/** Where they stop: at a barrier, in a loop, or in a function that has stopped at one or in one. */
export type SuspensionPlace = "barrier" | "loop" | "call at a barrier" | "call in a loop";

export const kindOf = {
  barrier: "barrier",
  loop: "yield",
  "call at a barrier": "barrier",
  "call in a loop": "yield",
} as const satisfies Record<SuspensionPlace, SuspensionKind>;

/** Blocks at which lanes go on after a pause. */
export interface SuspensionPoints {
  /** By the block that ends with a barrier, the block behind it. */
  readonly barriers: ReadonlyMap<number, number>;
  /** First blocks of loops that may wait for what other threads do. */
  readonly spins: ReadonlySet<number>;
  /** Blocks that are calls of functions which may pause. */
  readonly calls: ReadonlySet<number>;
  /** Those behind which some lanes may be while others wait in what they have called. */
  readonly parting: ReadonlySet<number>;
  /** Whether the host counts who comes to barriers: there are others than the one for all threads. */
  readonly isCounted: boolean;
}

/** What of calls is known where pauses are looked for. */
type Calls = Pick<CallGraph, "seesOthers" | "mayPause" | "targetsOf" | "countsBarriers">;

/** Where the lanes of a function may have to pause. `parting`: functions from which some lanes may come back before others. */
export function suspensionPointsOf(
  { graph, instructions }: PreparedCode,
  callGraph: Calls,
  parting: ReadonlySet<CompiledFunction>,
): SuspensionPoints {
  const { seesOthers, mayPause, countsBarriers } = callGraph;
  const barriers = new Map<number, number>();
  for (const { index, end } of graph.blocks) {
    if (instructions[end - 1]!.op.kind === "barrier") barriers.set(index, index + 1);
  }
  const calls = graph.blocks.flatMap(({ index, end }) => (mayPause(instructions[end - 1]!) ? [index] : []));
  const spins = spinLoops(graph, instructions, seesOthers);
  const parts = calls.filter((index) => {
    const { op } = instructions[graph.blocks[index]!.end - 1]!;
    return op.kind === "call" && (isIndirect(op) || callGraph.targetsOf(op).some((f) => parting.has(f)));
  });
  return { barriers, spins, calls: new Set(calls), parting: new Set(parts), isCounted: countsBarriers };
}

/** The blocks at which lanes go on that have paused. */
export const resumeBlocks = ({ barriers, spins, calls }: SuspensionPoints): ReadonlySet<number> =>
  new Set([...barriers.values(), ...spins, ...calls]);

/** The blocks at which lanes may be when others pause, or they themselves. */
export function blocksThatWait(
  { code, divergence }: UniformityAnalysis,
  pauses: SuspensionPoints,
  isLockstep: boolean,
): ReadonlySet<number> {
  const blocks = new Set(resumeBlocks(pauses));
  if (!isLockstep) return blocks;
  for (const { index } of code.graph.blocks) for (const w of divergence.waiting(index)) blocks.add(w);
  return blocks;
}

/** Bytes that the state of a chunk of so many times four lanes may take. */
export function stateBytesFor(
  analysis: UniformityAnalysis,
  pauses: SuspensionPoints,
  quads: number,
  isLockstep: boolean,
): number {
  const { code, register } = analysis;
  const { barriers, spins, calls } = pauses;
  const waiting = blocksThatWait(analysis, pauses, isLockstep);
  const masks = barriers.size + spins.size + 2 * calls.size + (isLockstep ? waiting.size : 0);
  const live = new Set<number>();
  for (const block of waiting) {
    code.liveness.liveIn(block).forEach((r) => {
      live.add(r);
    });
  }
  const vector = 16 * quads;
  const bytesOf = (r: number): number => {
    const { kind } = register(r);
    if (kind === "vector") return code.ir.registers[r]!.class === "b64" ? 2 * vector : vector;
    return kind === "indexed" ? 8 + vector : 8;
  };
  const bytes = [...live].reduce((sum, r) => sum + bytesOf(r), masks * vector + 4 * calls.size);
  return Math.ceil((stateHeaderBytes + bytes) / 16) * 16;
}
