import type { Origin, SourceText, Span } from "../../source/index.ts";

/** Sizes, or an index, in the three directions of a grid or block. */
export type Dim3 = readonly [x: number, y: number, z: number];

export const isSameDim3 = (a: Dim3, b: Dim3): boolean => a === b || (a[0] === b[0] && a[1] === b[1] && a[2] === b[2]);

/** A thread: the index of its block in the grid, and its own in the block. */
export interface ThreadId {
  readonly block: Dim3;
  readonly thread: Dim3;
}

/** One call of a call stack, which lists the innermost first: the function, and the instruction at which it is. */
export interface StackEntry {
  readonly function: string;
  readonly source: SourceText;
  readonly span: Span;
  /** Where the instruction was compiled from, or null. */
  readonly origin?: Origin | null;
}

/** Another place that belongs to a report: the other access of a race, the call that freed the memory. */
export interface RelatedPlace {
  readonly message: string;
  readonly source: SourceText;
  readonly span: Span;
  /** Where the instruction was compiled from, or null. */
  readonly origin?: Origin | null;
  /** The thread that was there. */
  readonly thread: ThreadId;
}

/**
 * Something that went wrong while a kernel ran: a fault, which ends the launch, or a finding of a sanitizer. `code` is
 * one of the stable names that `lanewise explain` knows. Threads with the same finding at the same instruction share a
 * report.
 */
export interface Report {
  readonly code: string;
  /** `error` for a fault or undefined behaviour. */
  readonly severity: "error" | "warning";
  /** One line with the values: what was accessed or called, and what would have been right. */
  readonly message: string;
  readonly help?: string;
  /** The name of the kernel that ran. */
  readonly kernel: string;
  /** The text of the program, and the instruction in it. */
  readonly source: SourceText;
  readonly span: Span;
  /** The position in the source of a higher language, if the program gives it (`.loc`). */
  readonly location: { readonly path: string; readonly line: number; readonly column: number } | null;
  /** The same with the functions that were inlined there, the innermost first. */
  readonly origin?: Origin | null;
  /** At most 32 of the threads. */
  readonly threads: readonly ThreadId[];
  /** The number of threads in all. */
  readonly count: number;
  /** The call stack of the first thread. */
  readonly stack: readonly StackEntry[];
  /** Further lines: which threads wait where, the nearest allocation, ... */
  readonly notes: readonly string[];
  readonly related?: readonly RelatedPlace[];
}

/** Is told each new report, and all so far, as soon as it is found. */
export type ReportListener = (report: Report, all: readonly Report[]) => void;
