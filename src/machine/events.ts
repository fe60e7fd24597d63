import type { Access } from "../ir/index.ts";
import type { Activation, Cta, EventSink, FunctionCode, Grid, Warp } from "./state/launch-state.ts";
import type { Site } from "./state/code.ts";

/** Some lanes of a warp at one instruction. */
export interface LaneEvent {
  readonly warp: Warp;
  readonly activation: Activation;
  readonly site: Site;
  /** The lanes that the event is about. */
  readonly mask: number;
}

/** `group`: the lanes that came to the instruction, whatever its guard and its channels make of them. */
export interface InstructionEvent extends LaneEvent {
  readonly group: number;
}

export interface AccessEvent extends LaneEvent {
  /** Which of the instruction's accesses this is (`MemoryAccess` in ir/access.ts). */
  readonly ordinal: number;
  readonly effect: "load" | "store" | "atomic";
  readonly access: Access;
  /** By lane; valid where `mask` is set, and only during the call. */
  readonly addresses: BigInt64Array;
  /** The same as words: the lower half of a lane's address at `2 * lane`, then the upper one. */
  readonly addressWords: Int32Array;
}

/** `group`: the lanes that execute the branch; `mask`: those of them that take it to `target`, an instruction of the function. */
export interface BranchEvent extends LaneEvent {
  readonly group: number;
  readonly target: number;
  readonly uniform: boolean;
}

/** One target of a call. `group`: the lanes that execute the call. */
export interface CallEvent extends LaneEvent {
  readonly group: number;
  readonly callee: FunctionCode;
  readonly uniform: boolean;
}

/** Lanes have entered a function: `activation` is theirs, and its arguments are in place. */
export interface EnterEvent {
  readonly warp: Warp;
  readonly activation: Activation;
  readonly mask: number;
}

export interface ReturnEvent extends LaneEvent {
  readonly group: number;
  readonly uniform: boolean;
}

/**
 * A warp has arrived, with these lanes; `converged` is false when they did not come by the same instruction together. Then
 * there is an event for each `part` of the warp, counting from 0.
 */
export interface BarrierEvent extends LaneEvent {
  readonly part: number;
  readonly barrier: number;
  readonly mode: "sync" | "arrive" | "red" | "wait";
  readonly aligned: boolean;
  readonly converged: boolean;
}

export interface BarrierReleaseEvent {
  readonly cta: Cta;
  readonly barrier: number;
}

/** A warp-wide operation. `named`: the lanes of the member mask; `mask`: those that take part. */
export interface WarpEvent extends LaneEvent {
  readonly named: number;
  /** The instructions at which the lanes have met, and the lanes of each. */
  readonly parts: readonly Omit<LaneEvent, "warp">[];
  /** For a shuffle, the lane that each lane reads; valid only during the call. */
  readonly sources: Int32Array | null;
}

/** The operands of an instruction are such that the manual leaves the result open. */
export interface UndefinedEvent extends LaneEvent {
  readonly code: string;
}

/**
 * Whoever watches a launch: sanitizers, a debugger, a profiler. An event comes before the machine's state changes,
 * except `warp` and `enter`, which come after. With no observer nothing of this happens.
 */
export interface Observer {
  launchBegin?(grid: Grid): void;
  blockBegin?(cta: Cta): void;
  blockEnd?(cta: Cta): void;
  /** The guard of the next instruction decides about the lanes of `mask`; `instruction` follows if it lets any of them pass. */
  guard?(event: InstructionEvent): void;
  /** Every instruction with at least one lane; `mask` is the group's, after the guard. */
  instruction?(event: InstructionEvent): void;
  undefinedCase?(event: UndefinedEvent): void;
  access?(event: AccessEvent): void;
  branch?(event: BranchEvent): void;
  call?(event: CallEvent): void;
  enter?(event: EnterEvent): void;
  return?(event: ReturnEvent): void;
  exit?(event: LaneEvent): void;
  barrier?(event: BarrierEvent): void;
  barrierRelease?(event: BarrierReleaseEvent): void;
  warp?(event: WarpEvent): void;
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
  branch: null,
  call: null,
  enter: null,
  return: null,
  exit: null,
  barrier: null,
  barrierRelease: null,
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

  /** Whether anybody wants to know of such events. */
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
