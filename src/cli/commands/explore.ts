import { type Explored, exploreSync, type ScheduleChoice } from "../../runtime/explore/explore.ts";
import type { Interruption } from "../../runtime/explore/schedule-script.ts";
import type { JobRun } from "../../runtime/job/job-execution.ts";
import type { JobOptions } from "../../runtime/job/job-options.ts";
import type { JobResult } from "../../runtime/job/job-result.ts";
import { type ExitStatus, exitStatus } from "../options/command.ts";
import type { FailOn } from "../options/findings.ts";
import { Interrupted, interruptible } from "../runs/interruption.ts";
import { runOpener } from "../runs/run-execution.ts";
import { jobToJson } from "../runs/run-json.ts";
import type { PlannedRun } from "../runs/run-plan.ts";
import { statusOf } from "../runs/run-status.ts";
import { plural } from "../terminal/numbers.ts";
import type { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Repeats a run under up to `budget` schedules; the seed of the run, if any, is the first of the random ones. */
export async function exploreRun(
  planned: PlannedRun,
  settings: JobOptions,
  { budget, progress }: { readonly budget: number; readonly progress: Progress },
): Promise<{ readonly explored: Explored; readonly isInterrupted: boolean }> {
  // The progress of one run among many would say nothing.
  const { onProgress: _, ...others } = settings;
  const quiet: JobOptions = { ...others, engine: "interpreter", hostThreads: 1, seed: null };
  progress.begin(`${planned.job.id} ${planned.variant}`.trim());
  const open = await runOpener(planned);
  let usual: JobResult | null = null;
  let current: JobRun | null = null;
  let schedules = 0;
  const run = (how: ScheduleChoice): JobResult => {
    current = open({ ...quiet, ...how, maxSteps: settings.maxSteps ?? how.maxSteps ?? null });
    const result = current.run();
    usual ??= result;
    return result;
  };
  const onSchedule = (tried: number): void => {
    schedules = tried;
    progress.step(`${tried} of ${budget} schedules`);
  };
  const options = { budget, seed: settings.seed ?? undefined, onSchedule };
  try {
    // All schedules are one piece of work: between two pieces a signal could be lost.
    const explored = await interruptible(() => exploreSync(planned.job, run, options));
    return { explored, isInterrupted: false };
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    const result = usual ?? (current ?? open(quiet)).interrupted();
    const tried = Math.max(0, schedules - 1);
    return { explored: { usual: result, schedules: tried, covered: 0, found: null }, isInterrupted: true };
  } finally {
    progress.end();
  }
}

export function exploredStatus(planned: PlannedRun, { usual, found }: Explored, failOn: FailOn): ExitStatus {
  const own = statusOf({ ...planned, result: usual, isInterrupted: false }, failOn);
  if (own !== exitStatus.ok || found === null) return own;
  return found.result.reports.some((r) => r.severity === "error") ? exitStatus.faulted : exitStatus.failed;
}

export const exploredToJson = ({ usual, schedules, covered, found }: Explored) => ({
  ...jobToJson(usual),
  ok: usual.ok && found === null,
  explored: {
    schedules,
    covered,
    ...(found === null ? {} : { found: { ...found, result: jobToJson(found.result) } }),
  },
});

const describeInterruption = ({ path, line, block, warp }: Interruption): string =>
  `warp ${warp} of block (${block.join(",")}) is interrupted before ${path}:${line}`;

function describeCovered(covered: number | null): string {
  if (covered === null) return "all that there are";
  if (covered < 0) return "more without interruptions are left";
  return covered === 0 ? "all without interruptions" : `all with at most ${plural(covered, "interruption")}`;
}

/** Prints the outcome of an exploration as text. */
export function printExplored({ usual, schedules, covered, found }: Explored, terminal: Terminal): void {
  const { style, out } = terminal;
  const name = [usual.id, ...(usual.variant === "" ? [] : [style("faint", usual.variant)])].join(" ");
  if (schedules === 0) {
    out(`${style("warning", "none")}  ${name}: was not run under other schedules`);
    return;
  }
  if (found === null) {
    out(`${style("help", "same")}  ${name}: ${plural(schedules, "schedule")}, ${describeCovered(covered)}`);
    return;
  }
  out(`${style("error", "DIFF")}  ${name}: schedule ${schedules} gives another run: ${found.difference}`);
  for (const interruption of found.interruptions) out(`      ${describeInterruption(interruption)}`);
  out(`      ${found.schedule === null ? `--seed ${found.seed}` : `--schedule ${found.schedule}`} repeats it`);
}
