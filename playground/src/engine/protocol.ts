import type { CheckResult, ElementType, EngineName, LaunchSummary } from "lanewise";

/** A file of a program: text as the editor has it, or bytes that were dropped in. */
export interface ProgramFile {
  readonly path: string;
  readonly text: string | null;
  readonly bytes: Uint8Array | null;
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

/** The values of a buffer before and after a run. Only the first `shown` elements are there. */
export interface BufferValues {
  readonly name: string;
  readonly type: ElementType;
  readonly length: number;
  readonly before: readonly (number | bigint)[] | ArrayLike<number>;
  readonly after: readonly (number | bigint)[] | ArrayLike<number>;
}

/** What came out of one run of a job. */
export interface RunOutcome {
  readonly engine: EngineName;
  readonly ok: boolean;
  /** Why the job is not ok, in one sentence; null if it is. */
  readonly failure: string | null;
  readonly launches: readonly LaunchSummary[];
  readonly checks: readonly CheckResult[];
  readonly stdout: string;
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
  /** How the recording ended: at the end of the program, at a fault, or because there were enough steps. */
  readonly end: "done" | "fault" | "limit";
  /** The time at which it ended. */
  readonly endTime: number;
}

/** Requests to the engine's worker, and what each returns. */
export interface EngineRequests {
  run: { args: { program: Program; engine: EngineName; sanitize: boolean }; result: RunOutcome };
  trace: {
    args: { program: Program; block: number; warp: number; sanitize: boolean; most: number };
    result: WarpTrace | { readonly findings: readonly Finding[]; readonly failure: string };
  };
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
