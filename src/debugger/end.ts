import type { Report } from "../machine/reports/report.ts";

/**
 * The end of time: all launches have ended ("done"), or the next instruction cannot be executed ("fault"), be it
 * because it faults or because no group of lanes can continue.
 */
export interface End {
  /** Whether all launches have ended, or execution cannot go on. */
  readonly kind: "done" | "fault";
  /** When time ends, in instructions of warps. */
  readonly time: number;
  /** The report of the fault or refusal, or null. */
  readonly report: Report | null;
}

/** A report of a sanitizer about the instruction that is executed next at `time`. */
export interface Finding {
  /** The time of the instruction, in instructions of warps. */
  readonly time: number;
  /** What the sanitizer says. */
  readonly report: Report;
}
