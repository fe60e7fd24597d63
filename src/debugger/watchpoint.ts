import type { PlainAddress } from "./view/memory-view.ts";
import type { RegisterVariable, VisaVariable } from "./view/variables.ts";

/** A lane of the grid, wherever the machine keeps it. */
export interface LaneId {
  /** The block's place in the order of the grid. */
  readonly block: number;
  readonly warp: number;
  readonly lane: number;
}

/** Whose it is: of shared memory the block counts, of local memory and registers the lane too, of parameters neither. */
export interface WatchOwner extends LaneId {
  /** Which launch of the program. */
  readonly launch: number;
}

export type WatchKind = "write" | "read" | "access" | "change";

/** What a watchpoint watches. */
export type Watched =
  /** Bytes in memory; `owner`: whom they belong to, if not to all launches. */
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

export interface Watchpoint {
  readonly id: number;
  readonly text: string;
  readonly on: WatchKind;
  readonly watched: Watched;
  enabled: boolean;
  hits: number;
}
