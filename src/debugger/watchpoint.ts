import type { PlainAddress } from "./view/memory-view.ts";
import type { RegisterVariable, VisaVariable } from "./view/variables.ts";

/** A lane of the grid, independent of the machine's objects. */
export interface LaneId {
  /** The linear index of the block in the grid. */
  readonly block: number;
  /** Index of the warp in the block. */
  readonly warp: number;
  /** 0 to 31. */
  readonly lane: number;
}

/**
 * The owner of something watched. Shared memory belongs to a block, local memory and registers to a lane, parameters to
 * a launch; the other fields do not matter then.
 */
export interface WatchOwner extends LaneId {
  /** Index of the launch. */
  readonly launch: number;
}

/** Which accesses stop: all writes, reads, reads and writes, or writes that change the value. */
export type WatchKind = "write" | "read" | "access" | "change";

/** Something that can be watched. */
export type Watched =
  /** A range of memory; `owner` is null if it belongs to all launches. */
  | {
      readonly kind: "memory";
      readonly address: bigint;
      readonly place: PlainAddress;
      readonly bytes: number;
      readonly owner: WatchOwner | null;
    }
  /** A register of a lane, or a variable of vISA, in one activation: the `serial`th call of the warp, at a depth. */
  | {
      readonly kind: "register";
      readonly register: RegisterVariable | VisaVariable;
      readonly function: string;
      readonly owner: WatchOwner;
      readonly depth: number;
      readonly serial: number;
    };

/** A value whose accesses stop the program. */
export interface Watchpoint {
  /** Unique in the session, also among breakpoints. */
  readonly id: number;
  /** The expression as the user wrote it. */
  readonly text: string;
  /** Which accesses stop the program. */
  readonly on: WatchKind;
  /** What is watched, and whose it is. */
  readonly watched: Watched;
  /** Whether the watchpoint has any effect. */
  enabled: boolean;
  /** How often it has stopped the program. */
  hits: number;
}
