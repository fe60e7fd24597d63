import type { LaneTrace } from "../lane-chart.mjs";

export interface BothRun {
  readonly isa: "PTX" | "vISA";
  /** The program's file in this folder. */
  readonly file: string;
  readonly out: Uint32Array;
  readonly trace: LaneTrace;
}

export declare function runBoth(): BothRun[];
