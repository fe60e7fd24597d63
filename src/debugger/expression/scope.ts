import type { Execution } from "../../interpreter/execution.ts";
import type { Activation, Grid, Warp } from "../../machine/state/launch-state.ts";
import { readMemory, type Viewpoint, writeMemory } from "../view/memory-view.ts";
import { type Names, namesOf } from "../view/names.ts";
import { sizeOf, type TypedBits } from "../view/value.ts";

/** The time in the debugger. */
export interface ScopeTime {
  readonly now: number;
}

/**
 * Where expressions are evaluated: a lane of an activation, or, if nothing is running there, the launch as the host
 * sees it.
 */
export class Scope implements Viewpoint {
  readonly execution: Execution;
  /** The meaning of names in the function. */
  readonly names: Names;
  readonly warp: Warp | null;
  readonly activation: Activation | null;
  /** The instruction of the function that is next, or the call that has not returned; -1 if nothing runs. */
  readonly index: number;
  /** The function in the origin of the instruction: 0, unless functions are inlined there. */
  readonly level: number;
  lane: number;
  readonly #time: ScopeTime;

  constructor(
    execution: Execution,
    at: { warp: Warp | null; lane: number; activation: Activation | null; index?: number; level?: number },
    time: ScopeTime,
  ) {
    this.execution = execution;
    ({ warp: this.warp, lane: this.lane, activation: this.activation } = at);
    this.index = at.index ?? -1;
    this.level = at.level ?? 0;
    this.names = namesOf(execution, at.activation?.code.ir ?? null);
    this.#time = time;
  }

  /** The launch. */
  get grid(): Grid {
    return this.execution.grid;
  }

  /** The time in the debugger: instructions of warps since the first launch began. */
  get now(): number {
    return this.#time.now;
  }

  /** Reads memory as the lane sees it; null if not all of the bytes exist. */
  memory(address: bigint, type: string): TypedBits | null {
    const size = sizeOf(type) ?? 1;
    const bytes = readMemory(this, address, size);
    return bytes.length < size ? null : { bytes, type };
  }

  /** Writes memory as the lane sees it; returns false, without writing, if not all of it exists. */
  writeMemory(address: bigint, bytes: Uint8Array): boolean {
    return writeMemory(this, address, bytes);
  }
}
