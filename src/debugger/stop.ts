import type { Report } from "../machine/reports/report.ts";
import type { BreakpointHit } from "./breakpoint-probe.ts";
import type { WatchHit } from "./watch-probe.ts";

/**
 * Why time stopped: at the very beginning ("entry"), after a step, at a requested time ("goto"), at a breakpoint or
 * watchpoint, before an instruction that a sanitizer reports ("report") or that faults, at the end of the program, at
 * the beginning of time, or because of an interrupt ("pause").
 */
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

/** Where time has stopped, and why. */
export interface Stop {
  /** Why time stopped here. */
  readonly reason: StopReason;
  /** In instructions of warps since the first launch began. */
  readonly time: number;
  /** The breakpoints that were hit here. */
  readonly breakpoints: readonly BreakpointHit[];
  /** The accesses to watched values by the instruction just executed or, going backward, by the next one. */
  readonly watchpoints: readonly WatchHit[];
  /** The report of a fault or a sanitizer about the next instruction, or null. */
  readonly report: Report | null;
}
