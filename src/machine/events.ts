import type { Access } from "../ir/index.ts";
import type { AddressParts } from "./memory/address-space.ts";
import type { Activation, Cluster, Cta, EventSink, FunctionCode, Grid, Warp } from "./state/launch-state.ts";
import type { Site } from "./state/code.ts";

/** Lanes of a warp at one instruction. Masks have a bit per lane, lane 0 being the lowest. */
export interface LaneEvent {
  readonly warp: Warp;
  /** The call of the function in which the lanes are. */
  readonly activation: Activation;
  /** The instruction, in its function. */
  readonly site: Site;
  /** The lanes that the event is about. */
  readonly mask: number;
}

/** An instruction. `group`: the lanes that came to it, before its guard and its channels select from them. */
export interface InstructionEvent extends LaneEvent {
  readonly group: number;
}

/** An access to memory that is about to happen; `mask`: the lanes whose guard holds. */
export interface AccessEvent extends LaneEvent {
  /** Which of the instruction's accesses this is (`MemoryAccess` in ir/access.ts). */
  readonly ordinal: number;
  readonly effect: "load" | "store" | "atomic";
  /** The state space, the width of an element in bits, the number of elements, and the order of the access. */
  readonly access: Access;
  /** The address of each lane, as a 64-bit number; valid where `mask` is set, and only during the call. */
  readonly addresses: BigInt64Array;
  /** The same memory as words: the lower half of a lane's address at `2 * lane`, then the upper one. */
  readonly addressWords: Int32Array;
}

/** A range that a unit of the machine is about to access on behalf of a lane, the one in `mask`. */
export interface RangeEvent extends LaneEvent {
  readonly lane: number;
  readonly effect: "load" | "store" | "atomic";
  readonly access: Access;
  readonly address: AddressParts;
  /** What is going to be stored, if that is known before. */
  readonly contents: (() => Uint8Array) | null;
}

/** Cells of tensor memory: these columns of these lanes of it. */
export interface TensorCells {
  readonly lane: number;
  readonly lanes: number;
  readonly column: number;
  readonly columns: number;
}

/** An instruction is about to access tensor memory, for the lanes in `mask`: that of their block or of its peer. */
export interface CellsEvent extends LaneEvent {
  readonly effect: "load" | "store";
  readonly cells: TensorCells;
  readonly owner: Cta;
}

/**
 * A branch that is about to happen. `group`: the lanes that execute it; `mask`: those of them that take it to `target`,
 * the index of an instruction in the function; `uniform`: whether it has `.uni`.
 */
export interface BranchEvent extends LaneEvent {
  readonly group: number;
  readonly target: number;
  readonly uniform: boolean;
}

/** One target of a call. `group`: the lanes that execute the call; `mask`: those of them that go to `callee`. */
export interface CallEvent extends LaneEvent {
  readonly group: number;
  readonly callee: FunctionCode;
  readonly uniform: boolean;
}

/** Lanes that have entered a function: `activation` is the new call, and its arguments are in place. */
export interface EnterEvent {
  readonly warp: Warp;
  readonly activation: Activation;
  readonly mask: number;
}

/** Lanes that are about to return. `group`: the lanes that came to the return; `uniform`: whether it has `.uni`. */
export interface ReturnEvent extends LaneEvent {
  readonly group: number;
  readonly uniform: boolean;
}

/**
 * The arrival of a warp at a barrier, with the lanes of `mask`. If the lanes did not come to the same instruction
 * together, `converged` is false, and there is an event for each `part` of the warp, counting from 0.
 */
export interface BarrierEvent extends LaneEvent {
  readonly part: number;
  /** The number of the barrier in its block. */
  readonly barrier: number;
  readonly mode: "sync" | "arrive" | "red" | "wait";
  readonly aligned: boolean;
  readonly converged: boolean;
}

/** The release of a barrier of a block, by its number: all that it waited for have arrived. */
export interface BarrierReleaseEvent {
  readonly cta: Cta;
  readonly barrier: number;
}

/**
 * Lanes arrive at the barrier of their cluster (`arrive`), or go on after they have waited there (`wait`).
 */
export interface ClusterBarrierEvent extends LaneEvent {
  readonly mode: "arrive" | "wait";
  readonly order: "acquire" | "release" | "relaxed";
  readonly aligned: boolean;
}

/** The barrier of a cluster begins its next phase: all threads of the cluster have arrived. */
export interface ClusterReleaseEvent {
  readonly cluster: Cluster;
}

/** A warp-wide operation. `named`: the lanes of the member mask; `mask`: those that take part. */
export interface WarpEvent extends LaneEvent {
  readonly named: number;
  /** The instructions that take part, and the lanes at each. */
  readonly parts: readonly Omit<LaneEvent, "warp">[];
  /** For a shuffle, the lane that each lane reads; valid only during the call. */
  readonly sources: Int32Array | null;
}

/** An instruction whose operands are such that the manual leaves the result open. */
export interface UndefinedEvent extends LaneEvent {
  /** The name of the report: see `lanewise explain`. */
  readonly code: string;
}

/**
 * An object that watches launches: a sanitizer, a profiler. Each method is called for one kind of event, before the
 * machine's state changes, except `warp` and `enter`, which come after. Events and the state in them must not be
 * changed or kept.
 */
export interface Observer {
  /** Once for each launch, before its first block; `launchEnd` comes after the last one, or after a fault. */
  launchBegin?(grid: Grid): void;
  /** A block begins, with all of its warps. */
  blockBegin?(cta: Cta): void;
  /** A block has ended, with all of its warps. */
  blockEnd?(cta: Cta): void;
  /**
   * The guard of the next instruction decides about the lanes of `mask`; `instruction` follows if it lets any of them
   * pass.
   */
  guard?(event: InstructionEvent): void;
  /** Each instruction that at least one lane executes; `mask`: the lanes of the group for which the guard holds. */
  instruction?(event: InstructionEvent): void;
  /** Lanes are about to execute an instruction with operands for which the manual leaves the result undefined. */
  undefinedCase?(event: UndefinedEvent): void;
  /** Lanes are about to access memory; one event for each access of an instruction. */
  access?(event: AccessEvent): void;
  /** A unit of the machine is about to access memory. */
  range?(event: RangeEvent): void;
  /** A unit of the machine is about to access tensor memory; one event for each matrix. */
  cells?(event: CellsEvent): void;
  /** Lanes are about to branch; an indexed branch is one event for each target. */
  branch?(event: BranchEvent): void;
  /** Lanes are about to call a function; one event for each callee. */
  call?(event: CallEvent): void;
  /** Lanes have entered a function. */
  enter?(event: EnterEvent): void;
  /** Lanes are about to return from a function. */
  return?(event: ReturnEvent): void;
  /** Lanes are about to end. */
  exit?(event: LaneEvent): void;
  /** A warp has arrived at a barrier. */
  barrier?(event: BarrierEvent): void;
  /** A barrier lets all go on that wait at it. */
  barrierRelease?(event: BarrierReleaseEvent): void;
  /** Lanes arrive at the barrier of their cluster, or have waited there. */
  clusterBarrier?(event: ClusterBarrierEvent): void;
  /** All threads of a cluster have arrived at its barrier. */
  clusterRelease?(event: ClusterReleaseEvent): void;
  /** A warp-wide operation has been executed. */
  warp?(event: WarpEvent): void;
  /** The launch has ended, by itself or with a fault. */
  launchEnd?(grid: Grid): void;
}

type EventOf<K extends keyof Observer> = Parameters<NonNullable<Observer[K]>>[0];

type Handlers = { readonly [K in keyof Observer]?: readonly ((event: EventOf<K>) => void)[] };

const eventNames: Readonly<Record<keyof Observer, null>> = {
  launchBegin: null,
  blockBegin: null,
  blockEnd: null,
  guard: null,
  instruction: null,
  undefinedCase: null,
  access: null,
  range: null,
  cells: null,
  branch: null,
  call: null,
  enter: null,
  return: null,
  exit: null,
  barrier: null,
  barrierRelease: null,
  clusterBarrier: null,
  clusterRelease: null,
  warp: null,
  launchEnd: null,
};

/** The observers of a launch as one. */
export class Observers implements EventSink {
  readonly #handlers: Handlers;

  constructor(list: readonly Observer[]) {
    const names = Object.keys(eventNames) as (keyof Observer)[];
    const handlers = names.map((name) => [name, list.flatMap((o) => o[name]?.bind(o) ?? [])] as const);
    this.#handlers = Object.fromEntries(handlers.filter(([, found]) => found.length > 0));
  }

  /** Whether an observer handles events of this kind. */
  watch(name: keyof Observer): boolean {
    return this.#handlers[name] !== undefined;
  }

  emit<K extends keyof Observer>(name: K, event: EventOf<K>): void {
    const handlers = this.#handlers[name] as readonly ((event: EventOf<K>) => void)[] | undefined;
    if (handlers === undefined) return;
    for (let i = 0; i < handlers.length; i++) handlers[i]!(event);
  }
}

/** Tells the observers of a grid about an event. */
export const emit = <K extends keyof Observer>(observers: EventSink, name: K, event: EventOf<K>): void =>
  observers.emit(name, event);
