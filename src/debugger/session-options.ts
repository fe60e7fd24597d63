import type { Dim3 } from "../machine/reports/report.ts";
import type { ReadOrigin } from "../source/index.ts";
import type { Granularity, Scope, StepKind } from "./step-probe.ts";
import type { TimelineOptions } from "./timeline-options.ts";

/** A launch, before it has begun. */
export interface LaunchNote {
  /** The name of its kernel in the program. */
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** The program's stack where it launches, as lines. */
  readonly stack: readonly string[];
}

/** Options of a session. */
export interface SessionOptions extends TimelineOptions {
  /** Whether reports of sanitizers stop the program. Default: true. */
  readonly stopOnReports?: boolean;
  /** What is known of the launches beforehand, in their order. Default: nothing. */
  readonly launchNotes?: readonly LaunchNote[];
  /**
   * Finds the files that a program was compiled from. Where they are found, line numbers without a file are theirs, not
   * those of the assembly.
   */
  readonly readOrigin?: ReadOrigin | undefined;
  /** Receives the messages of log points. */
  readonly onLog?: (text: string) => void;
}

/** A step, by default one instruction of the lane in focus, forward. */
export interface StepRequest {
  /** Whether calls are entered, passed over, or left. */
  readonly kind: StepKind;
  /** Whether the step goes backward. Default: false. */
  readonly backward?: boolean;
  /** Whose next instruction ends the step. Default: "lane". */
  readonly scope?: Scope;
  /** Default: "instruction". */
  readonly granularity?: Granularity;
}
