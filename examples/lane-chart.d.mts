/** Lanes of a warp at one step: those that are in the same activation of a function and in the same state. */
export interface LaneGroup {
  /** A bit for each lane. */
  readonly lanes: number;
  /**
   * `runs`: executes the step; `ready`: waits for its turn; `returned`: has returned, and waits for the others of its
   * activation; `waits`: at a barrier, or for lanes to exchange values with.
   */
  readonly state: "runs" | "ready" | "returned" | "waits";
  readonly function: string;
  /** How many activations of the function the lanes are in. */
  readonly depth: number;
}

/** One instruction, and where the lanes are when it runs. Lanes in no group have ended. */
export interface LaneStep {
  /** The lanes of the group that executes it; 0 when the warp has ended. */
  readonly lanes: number;
  /** In the source, from 1. */
  readonly line: number;
  readonly text: string;
  readonly groups: readonly LaneGroup[];
}

export interface LaneTrace {
  /** The lanes that exist. */
  readonly lanes: number;
  readonly steps: readonly LaneStep[];
}

export interface ChartOptions {
  /** Columns of the terminal, 80 if not given. */
  readonly width?: number;
  readonly color?: boolean;
  /** False: only ASCII. */
  readonly unicode?: boolean;
}

export declare function laneChart(trace: LaneTrace, options?: ChartOptions): string;

export declare function laneGroups(trace: LaneTrace): string;

/** Steps during which no lane moves to another function or state. */
export interface LaneColumn<Group extends LaneGroup = LaneGroup> {
  /** The lanes that run. */
  readonly lanes: number;
  readonly groups: readonly Group[];
  readonly first: Pick<LaneStep, "line" | "text">;
  readonly final: Pick<LaneStep, "line" | "text">;
}

/** Lanes that part after a column, or that meet in it. */
export interface LaneEvent {
  readonly kind: "part" | "meet";
  /** The index of the column. */
  readonly at: number;
  /** A letter. */
  readonly mark: string;
  readonly step: Pick<LaneStep, "line" | "text">;
  /** Where the lanes go, or come from. */
  readonly parts: readonly { readonly lanes: number; readonly state: LaneGroup["state"] | "exited"; readonly function?: string }[];
}

export declare function eventsOf(columns: readonly LaneColumn[]): LaneEvent[];

/** `0-3 8-11`; long lists lose their middle. */
export declare function listLanes(lanes: readonly number[]): string;

/** Lanes with the same history, by column. */
export interface LaneRow<Group extends LaneGroup = LaneGroup> {
  readonly lanes: readonly number[];
  /** The lanes as `listLanes` writes them. */
  readonly name: string;
  readonly cells: readonly (Pick<Group, "function" | "depth"> & { readonly state: Group["state"] | "exited" })[];
}

export declare function columnsOf(steps: readonly LaneStep[]): LaneColumn[];

export declare function rowsOf(lanes: number, columns: readonly LaneColumn[]): LaneRow[];
