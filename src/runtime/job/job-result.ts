import type { Report } from "../../machine/reports/report.ts";
import type { Diagnostic } from "../../source/index.ts";
import type { Elements } from "../data/element.ts";
import type { EngineName } from "../launch/launch-options.ts";
import type { Difference } from "./compare.ts";

/** One launch of a job that has been run. */
export interface LaunchSummary {
  readonly kernel: string;
  readonly threads: number;
  /** The number of thread-instructions executed; null if the engine does not count them. */
  readonly steps: number | null;
  readonly milliseconds: number;
  /** The engine that ran the launch. */
  readonly engine: EngineName;
  /** The reason why the interpreter ran it; absent if compiled code did. */
  readonly interpreted?: string;
  /** The reason why "jit" ran it although "native" was asked for; absent otherwise. */
  readonly notNative?: string;
  /** The number of host threads that ran blocks. */
  readonly hostThreads: number;
}

/** The outcome of checking one buffer or variable: whether it is as expected, and how many of `n` elements are not. */
export interface CheckResult {
  readonly of: "buffer" | "symbol";
  /** The name of the buffer or variable. */
  readonly buf: string;
  readonly ok: boolean;
  /** How many elements differ. */
  readonly mismatches: number;
  /** The number of elements compared. */
  readonly n: number;
  /** The first element that differs; null if none does, or if only a hash of the expected bytes is known. */
  readonly first: Difference | null;
}

/** The result of running one variant of a job. */
export interface JobResult {
  readonly id: string;
  readonly variant: string;
  /** "jit" or "native" if it ran all launches, "jit" if both did, otherwise "interpreter". */
  readonly engine: EngineName;
  readonly ok: boolean;
  readonly launches: readonly LaunchSummary[];
  readonly checks: readonly CheckResult[];
  readonly stdout: string;
  readonly reports: readonly Report[];
  /** The reports that `JobOptions.suppress` selected. */
  readonly suppressed: readonly Report[];
  /** Something the job needs that is not supported or not available, or null. Such a job is not ok. */
  readonly skipped: string | null;
  /** The errors and warnings of the program. */
  readonly diagnostics: readonly Diagnostic[];
  /** Why the job could not be run as it stands: a file, an argument, a hash that does not match; or null. */
  readonly problem: Error | null;
  /** An internal error of Lanewise, or null. */
  readonly defect: Error | null;
  /** Why the job is not ok, in one sentence; null if it is. */
  readonly failure: string | null;
  /** The contents of the buffers before the first launch and after the last. */
  readonly buffers: ReadonlyMap<string, { readonly before: Elements; readonly after: Elements }>;
  /** The same for the variables that the job names. */
  readonly symbols: ReadonlyMap<string, { readonly before: Elements; readonly after: Elements }>;
}
