import type { machine, Observer } from "../src/index.ts";
import type { LaneGroup, LaneTrace } from "./lane-chart.mjs";

export interface TraceOptions {
  /** Which warp of which block, by number; the first if not given. */
  readonly block?: number;
  readonly warp?: number;
  /** How many steps are kept at most. */
  readonly most?: number;
}

export declare function traceLanes(options?: TraceOptions): { readonly observer: Observer; readonly trace: LaneTrace };

/** For each lane, the functions in which it has run, in order; a function again where it has come back to it. */
export declare function functionsOf(trace: LaneTrace): string[][];

/** Lanes that are in the same activation and in the same state. */
export interface ActiveLanes extends Pick<LaneGroup, "lanes" | "state"> {
  readonly activation: machine.Activation;
}

/** Where the lanes of a warp are, from the lowest lane up. `running` executes an instruction; null: none does. */
export declare function laneGroupsOf(warp: machine.Warp, running: machine.Group | null): ActiveLanes[];

/** The function, and how many activations of it the lanes are in: more than one in a recursion. */
export declare function placeOf(activation: machine.Activation): Pick<LaneGroup, "function" | "depth">;
