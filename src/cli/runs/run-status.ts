import { type ExitStatus, exitStatus } from "../options/command.ts";
import type { FailOn } from "../options/findings.ts";
import type { Finished } from "./run-execution.ts";

/** The exit status for a run. `failOn` says which reports count. */
export function statusOf({ result, job, isInterrupted }: Finished, failOn: FailOn = "error"): ExitStatus {
  const { ok, problem, reports } = result;
  if (isInterrupted) return exitStatus.interrupted;
  const faulted = reports.some((report) => report.severity === "error");
  if (ok) return failOn === "warning" && job.expect === null && reports.length > 0 ? exitStatus.faulted : exitStatus.ok;
  if (problem) return exitStatus.usage;
  if (job.expect !== null || !faulted) return exitStatus.failed;
  return failOn === "never" ? exitStatus.ok : exitStatus.faulted;
}

/** The status of several runs: Ctrl-C takes precedence over wrong usage, this over faults, these over failed checks. */
export const worst = (statuses: readonly ExitStatus[]): ExitStatus =>
  [exitStatus.interrupted, exitStatus.usage, exitStatus.faulted, exitStatus.failed].find((s) => statuses.includes(s)) ??
  exitStatus.ok;
