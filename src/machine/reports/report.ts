import type { SourceText, Span } from "../../source/index.ts";

export type Dim3 = readonly [x: number, y: number, z: number];

export interface ThreadId {
  readonly block: Dim3;
  readonly thread: Dim3;
}

/** One activation, innermost first. */
export interface StackEntry {
  readonly function: string;
  readonly source: SourceText;
  readonly span: Span;
}

/** Another place that has to do with a report: the other access of a race, the call that freed the memory. */
export interface RelatedPlace {
  readonly message: string;
  readonly source: SourceText;
  readonly span: Span;
  /** Who was there. */
  readonly thread: ThreadId;
}

/**
 * Something that went wrong while a kernel ran: a fault (which ends the launch), or what a sanitizer saw. `code` is one of
 * the stable names that `lanewise explain` knows. Threads that did the same thing at the same instruction share a report.
 */
export interface Report {
  readonly code: string;
  /** `error` for a fault or undefined behaviour. */
  readonly severity: "error" | "warning";
  /** One line with the values: what was accessed or called, and what would have been right. */
  readonly message: string;
  readonly help?: string;
  readonly kernel: string;
  readonly source: SourceText;
  readonly span: Span;
  /** The `.loc` position, where there is one. */
  readonly location: { readonly path: string; readonly line: number; readonly column: number } | null;
  /** At most 32 of the threads. */
  readonly threads: readonly ThreadId[];
  /** How many threads in all. */
  readonly count: number;
  /** The call stack of the first thread. */
  readonly stack: readonly StackEntry[];
  /** Further lines: who waits where, the nearest allocation, ... */
  readonly notes: readonly string[];
  readonly related?: readonly RelatedPlace[];
}
