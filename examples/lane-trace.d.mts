import type { Observer } from "../src/index.ts";
import type { LaneTrace } from "./lane-chart.mjs";

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
