import type { FunctionText } from "./function-text.ts";
import type { ModuleText } from "./module-text.ts";

/** What programs are made of; `statements.ts` has how each is written. */
type StatementKind =
  | "compute"
  | "conditional"
  | "loop"
  | "jump"
  | "leave"
  | "choice"
  | "graph"
  | "load"
  | "store"
  | "table"
  | "stream"
  | "bytes"
  | "print"
  | "fault"
  | "pause"
  | "exchange"
  | "blockReduction"
  | "vote"
  | "produce"
  | "phase"
  | "layout"
  | "inputWindow"
  | "tile"
  | "border"
  | "clamped"
  | "warpNumber"
  | "rounds"
  | "rows"
  | "strides"
  | "trips"
  | "unrolledRow"
  | "fixedRounds"
  | "lockstep"
  | "turns"
  | "update"
  | "doubling"
  | "elimination"
  | "neighbour"
  | "wavefront"
  | "partialWarp"
  | "laneGroups"
  | "call"
  | "callSmall"
  | "callWithPointer"
  | "warp"
  | "sharedAtomic"
  | "ownAtomic"
  | "matrix"
  | "matrixValues"
  | "warpgroupProducts"
  | "tensorMemory"
  | "tensorPairs"
  | "mbarrierPhases"
  | "pipeline"
  | "copyGroups"
  | "bulkStores"
  | "bulkWithin"
  | "tensorLoad"
  | "tensorStore"
  | "clusterExchange"
  | "clusterStores"
  | "clusterArrivals"
  | "clusterMulticast"
  | "fetchTexel"
  | "accessSurface"
  | "updateSurface"
  | "queryImage";
/** How often each kind of statement is written. */
export type Weights = Readonly<Partial<Record<StatementKind, number>>>;

/** Where a statement stands. */
export interface Scope {
  readonly module: ModuleText;
  readonly text: FunctionText;
  readonly weights: Weights;
  /** Writes that many statements of a scope's kinds. */
  readonly statements: (scope: Scope, count: number) => void;
  /** The number of the function; the kernel is -1. Functions call those after them, and any with less depth. */
  readonly level: number;
  /** Functions call only those after them. */
  readonly flat: boolean;
  /** All threads of the block come here together, so that they may meet at a barrier. */
  readonly converged: boolean;
  /** Enclosing ifs, loops and switches. */
  readonly nesting: number;
  /** The loops around, innermost first: where they go on and where they end. */
  readonly loops: readonly { readonly next: string; readonly end: string }[];
  /** Writes how threads leave the function, behind a guard (`@%p0 `); null where they must not. */
  readonly leave: ((guard: string) => void) | null;
}

/** A branch of the control flow inside a scope. `converged`: whether all threads of the block take it or none does. */
export const inside = (scope: Scope, converged: boolean, loop: Scope["loops"][number] | null = null): Scope => ({
  ...scope,
  converged: scope.converged && converged,
  nesting: scope.nesting + 1,
  loops: loop === null ? scope.loops : [loop, ...scope.loops],
  leave: converged ? null : scope.leave,
});
