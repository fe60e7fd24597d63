import type { Counts, ElementType, EngineName, JobResult, KernelInput } from "lanewise";
import type { BufferJson, LaunchJson } from "../launch/job-text.ts";

/** A file of a program: text as the editor has it, or bytes that were dropped in. */
export interface ProgramFile {
  readonly path: string;
  readonly text: string | null;
  readonly bytes: Uint8Array | null;
}

/** What a buffer must be like to take the data of a file. */
export interface DataShape {
  readonly type: ElementType;
  readonly n: number;
  /** The size of a picture; null: it is none. */
  readonly picture: { readonly width: number; readonly height: number } | null;
}

/** A file that belongs to no program: data for one. */
export interface LooseFile extends ProgramFile {
  readonly shape: DataShape | null;
}

/** What the playground works on: a job, as `lanewise run` takes it, and the files that it names. */
export interface Program {
  readonly job: string;
  readonly files: readonly ProgramFile[];
}

/** A range of a file, in UTF-16 units, and the line (from 1) in which it begins. */
export interface FileRange {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly line: number;
}

/** A diagnostic, a fault or a finding of a sanitizer. */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly message: string;
  readonly help: string | null;
  /** Null: it is about no place in a file. */
  readonly at: FileRange | null;
  readonly notes: readonly string[];
  /** Other places that belong to it: the other access of a race. */
  readonly related: readonly { readonly message: string; readonly at: FileRange; readonly thread: string | null }[];
  /** The threads that it happened to, in words; empty for a diagnostic. */
  readonly threads: string;
  /** The functions that the first thread is in, the innermost first. */
  readonly stack: readonly { readonly function: string; readonly at: FileRange }[];
}

/** A finding, and the time just before which it was made. */
export interface TimedFinding {
  readonly time: number;
  readonly finding: Finding;
}

/** The values of a buffer before and after a run. Only the first `shown` elements are there. */
export interface BufferValues {
  readonly name: string;
  readonly type: ElementType;
  readonly length: number;
  readonly before: readonly (number | bigint)[] | ArrayLike<number>;
  readonly after: readonly (number | bigint)[] | ArrayLike<number>;
}

/** What came out of one run of a job. */
export interface RunOutcome extends Pick<JobResult, "engine" | "ok" | "failure" | "launches" | "checks" | "stdout"> {
  readonly findings: readonly Finding[];
  readonly buffers: readonly BufferValues[];
  /** Milliseconds for everything: reading the program, compiling it, running it. */
  readonly milliseconds: number;
}

/** What lanes of a warp do: as in lane-chart.mjs. */
export interface LaneGroupView {
  readonly lanes: number;
  readonly state: "runs" | "ready" | "returned" | "waits";
  readonly function: string;
  readonly depth: number;
  /** The functions that the lanes are in, the outermost first, with the line (from 1) at which each is. */
  readonly stack: readonly { readonly function: string; readonly line: number }[];
}

/** An instruction that the watched warp has executed. */
export interface TraceSite {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/**
 * The history of one warp. `time[i]` is the time of its step i, in instructions of all warps; `site[i]` and
 * `arrangement[i]` are indices into `sites` and `arrangements`.
 */
export interface WarpTrace {
  readonly block: number;
  readonly warp: number;
  /** The lanes that exist, as a mask. */
  readonly lanes: number;
  readonly time: readonly number[];
  readonly site: readonly number[];
  readonly arrangement: readonly number[];
  readonly sites: readonly TraceSite[];
  readonly arrangements: readonly (readonly LaneGroupView[])[];
  /** The turns of all warps. */
  readonly turns: readonly Turn[];
  /** Reports of faults and, if they watched, sanitizers, with the times just before which they were found. */
  readonly found: readonly TimedFinding[];
  /** The warps of the grid: blocks, and warps of a block. */
  readonly blocks: number;
  readonly warps: number;
  /** How the recording ended: at the end of the program, at a fault, or because there were enough steps. */
  readonly end: "done" | "fault" | "limit";
  /** The time at which it ended. */
  readonly endTime: number;
}

/** A file that was dropped in, as it is. */
export interface DroppedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A program found in files that were dropped in. */
export interface OpenedProgram {
  readonly title: string;
  /** Its kernels, as their source names them. */
  readonly kernels: readonly string[];
  readonly job: object | string;
  readonly files: readonly ProgramFile[];
}

/** A launch that fits a kernel, and what the job has to say besides. */
export interface LaunchProposal {
  readonly launch: LaunchJson;
  readonly buffers: Readonly<Record<string, BufferJson>>;
  /** What the inputs of a vISA kernel written by hand are. */
  readonly inputs?: readonly KernelInput[];
}

/** Where the machine stands, as the page shows it. */
export interface MachineView {
  readonly time: number;
  /** Why time stands here, in words; null after going to a time. */
  readonly reason: string | null;
  readonly block: number;
  readonly warp: number;
  readonly lane: number;
  /** The next instruction of the lane; null when it has ended. */
  readonly at: TraceSite | null;
  /** What the lane waits for, in words; null if it does not wait. */
  readonly why: string | null;
  readonly stack: readonly { readonly function: string; readonly at: TraceSite }[];
  readonly registers: readonly RegisterRow[];
  readonly printed: string;
}

/** A register of all lanes. */
export interface RegisterRow {
  readonly name: string;
  readonly type: string;
  /** Whether the value may still be read. */
  readonly live: boolean;
  /** By lane; empty where the warp has no such lane. */
  readonly values: readonly string[];
  /** The lanes in which the last instruction of the warp has changed it, as a mask. */
  readonly changed: number;
}

/** A stretch of memory that can be shown as a map. */
export interface MemoryRegion {
  readonly id: string;
  readonly label: string;
  readonly type: ElementType;
  readonly elements: number;
}

/** An access by a lane: the last one of all that a place in memory has seen. */
export interface MemoryAccess {
  readonly time: number;
  readonly block: number;
  readonly warp: number;
  readonly lane: number;
  readonly line: number;
  readonly effect: "load" | "store" | "atomic";
}

/** Elements of a region at a time: from `first` on. */
export interface MemoryMap {
  readonly regions: readonly MemoryRegion[];
  readonly region: string;
  readonly first: number;
  readonly values: readonly string[];
  /** The last access that wrote an element; null: none has. */
  readonly writers: readonly (MemoryAccess | null)[];
  /** The accesses of the next instruction. */
  readonly now: readonly (MemoryAccess | null)[];
  /** Whether there were more accesses than are kept. */
  readonly isCut: boolean;
}

/** Counts of a line of the program. */
export interface LineCounts {
  readonly path: string;
  readonly line: number;
  readonly function: string;
  readonly counts: Counts;
}

/** What `lanewise profile` counts. */
export interface ProfileView {
  readonly failure: string | null;
  readonly findings: readonly Finding[];
  readonly totals: Counts | null;
  readonly lines: readonly LineCounts[];
  readonly functions: readonly {
    readonly name: string;
    readonly calls: number;
    readonly warpInstructions: number;
    readonly threadInstructions: number;
  }[];
}

/** What came of trying other schedules. */
export interface ExploreView {
  readonly failure: string | null;
  readonly findings: readonly Finding[];
  readonly schedules: number;
  /** All schedules with at most this many interruptions were tried; null: all there are. */
  readonly covered: number | null;
  readonly found: {
    /** In the notation of `lanewise run --schedule`; null if the run had a seed. */
    readonly schedule: string | null;
    readonly seed: number | null;
    readonly difference: string;
    readonly interruptions: readonly {
      readonly path: string;
      readonly line: number;
      readonly block: readonly number[];
      readonly warp: number;
    }[];
  } | null;
  /** The two that differ, or only the usual one. */
  readonly runs: readonly { readonly title: string; readonly outcome: RunOutcome; readonly turns: readonly Turn[] }[];
}

/** Instructions that one warp executes, without others in between: the times from `from` up to `to`. */
export interface Turn {
  readonly block: number;
  readonly warp: number;
  readonly from: number;
  readonly to: number;
}

/** A program that cannot be run as it stands. */
interface Refused {
  readonly failure: string;
  readonly findings: readonly Finding[];
}

/** How time is to go on, for the lane in focus. */
export type Motion =
  | { readonly kind: "goTo"; readonly time: number }
  | { readonly kind: "continue" | "reverse" }
  /** To the next (or the last) time at which the warp comes to a line, whatever breakpoints there are. */
  | { readonly kind: "toLine"; readonly path: string; readonly line: number; readonly backward: boolean }
  | { readonly kind: "lastWrite"; readonly expression: string };

/** A line at which time stops; `condition` is empty if there is none. */
export interface BreakpointView {
  readonly path: string;
  readonly line: number;
  readonly condition: string;
}

/** Requests to the engine's worker, and what each returns. */
export interface EngineRequests {
  run: { args: { program: Program; engine: EngineName; sanitize: boolean }; result: RunOutcome };
  /** Opens a program in the debugger, goes to its end, and returns what a warp has done. The following are about it. */
  trace: {
    args: { program: Program; block: number; warp: number; sanitize: boolean; most: number };
    result: WarpTrace | Refused;
  };
  /** Returns what another warp of the same run has done. */
  record: { args: { block: number; warp: number; most: number }; result: WarpTrace };
  /** Goes through time and shows the machine there. */
  move: {
    args: {
      motion: Motion;
      block: number;
      warp: number;
      lane: number;
      previous: number | null;
      breakpoints: readonly BreakpointView[];
    };
    result: MachineView;
  };
  map: { args: { region: string | null; first: number; count: number; block: number }; result: MemoryMap };
  /** A command of the debugger's console. */
  command: {
    args: { line: string };
    result: { text: string; time: number; block: number; warp: number; lane: number };
  };
  /** Finds the programs in files; `loose` are those that belong to none, such as data. */
  open: {
    args: { files: readonly DroppedFile[] };
    result: { programs: readonly OpenedProgram[]; loose: readonly LooseFile[] } | Refused;
  };
  /** Proposes how a kernel may be launched; null if no file has it. */
  propose: {
    args: { program: Program; kernel: string };
    result: LaunchProposal | null;
  };
  profile: { args: { program: Program }; result: ProfileView };
  explore: { args: { program: Program; budget: number }; result: ExploreView };
}

export type RequestKind = keyof EngineRequests;

/** A request as it is posted to the worker, and the answer. */
export interface RequestMessage {
  readonly id: number;
  readonly kind: RequestKind;
  readonly args: unknown;
}
export type AnswerMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly id: number; readonly progress: unknown };
