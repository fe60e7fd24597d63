import type { Report } from "../machine/reports/report.ts";
import type { BreakpointHit } from "./breakpoint-probe.ts";
import type { WatchHit } from "./watch-probe.ts";

export type StopReason =
  | "entry"
  | "step"
  | "goto"
  | "breakpoint"
  | "watchpoint"
  | "report"
  | "fault"
  | "end"
  | "beginning"
  | "pause";

/** Where time stands, and why it does not go on. */
export interface Stop {
  readonly reason: StopReason;
  readonly time: number;
  readonly breakpoints: readonly BreakpointHit[];
  readonly watchpoints: readonly WatchHit[];
  /** What a fault or a sanitizer says of the instruction that is next. */
  readonly report: Report | null;
}
