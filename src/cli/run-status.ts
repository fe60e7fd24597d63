import { type ExitStatus, exitStatus } from "./command.ts";
import type { Finished } from "./run-execution.ts";

/** What a run tells the caller of the process. */
export function statusOf({ result, job }: Finished): ExitStatus {
  if (result.ok) return exitStatus.ok;
  if (result.problem) return exitStatus.usage;
  const faulted = result.reports.some((report) => report.severity === "error");
  return job.expect === null && faulted ? exitStatus.faulted : exitStatus.failed;
}

/** The status of all: wrong usage before faults before failed checks. */
export const worst = (statuses: readonly ExitStatus[]): ExitStatus =>
  [exitStatus.usage, exitStatus.faulted, exitStatus.failed].find((s) => statuses.includes(s)) ?? exitStatus.ok;
