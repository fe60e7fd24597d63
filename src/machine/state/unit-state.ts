import { type Restore, restoreAll } from "../memory/checkpoint.ts";

/** What a unit of the machine remembers for a block, such as what tensor memory holds. */
export interface UnitState {
  /** Bytes that a checkpoint keeps, about. */
  readonly stateBytes: number;
  /** Keeps the state, and returns a function that restores it. */
  checkpoint(): Restore;
}

/** What the units of the machine remember for a block: an object of each kind, made when it is first needed. */
export class UnitStates {
  /** Whether asynchronous operations take effect as late as they may, and not where they are issued. */
  late = false;
  readonly #states = new Map<new () => UnitState, UnitState>();

  /** Whether nothing is remembered. */
  get isEmpty(): boolean {
    return this.#states.size === 0;
  }

  /** The object of a kind, made if there is none. */
  of<T extends UnitState>(kind: new () => T): T {
    let state = this.#states.get(kind);
    if (state === undefined) this.#states.set(kind, (state = new kind()));
    return state as T;
  }

  /** The object of a kind, or null if none has been needed. */
  existing<T extends UnitState>(kind: new () => T): T | null {
    return (this.#states.get(kind) as T | undefined) ?? null;
  }

  /** Another block begins. */
  reset(): void {
    if (!this.isEmpty) this.#states.clear();
  }

  /** Bytes that a checkpoint keeps, about. */
  get stateBytes(): number {
    let bytes = 0;
    for (const state of this.#states.values()) bytes += state.stateBytes;
    return bytes;
  }

  /** Keeps all objects and their state, and returns a function that restores them. */
  checkpoint(): Restore {
    const kept = [...this.#states];
    const restore = restoreAll(kept.map(([, state]) => state.checkpoint()));
    return () => {
      this.#states.clear();
      for (const [kind, state] of kept) this.#states.set(kind, state);
      restore();
    };
  }
}
