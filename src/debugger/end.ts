import type { Report } from "../machine/reports/report.ts";

/** How time ends: all launches have ended, or the next instruction (or nobody's turn) cannot be. */
export interface End {
  readonly kind: "done" | "fault";
  readonly time: number;
  /** What is wrong, where a fault or a refusal ends it. */
  readonly report: Report | null;
}

/** A report of a sanitizer, about the instruction that is executed next at `time`. */
export interface Finding {
  readonly time: number;
  readonly report: Report;
}
