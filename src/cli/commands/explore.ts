import { explore, type Explored, type ScheduleChoice } from "../../runtime/explore/explore.ts";
import type { Interruption } from "../../runtime/explore/schedule-script.ts";
import type { JobOptions } from "../../runtime/job/job-execution.ts";
import type { JobResult } from "../../runtime/job/job-result.ts";
import { type ExitStatus, exitStatus } from "../options/command.ts";
import type { FailOn } from "../options/findings.ts";
import { runQuietly } from "../runs/run-execution.ts";
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
): Promise<Explored> {
  // The progress of one run among many would say nothing.
  const { onProgress: _, ...others } = settings;
  const quiet: JobOptions = { ...others, engine: "interpreter", hostThreads: 1, seed: null };
  progress.begin(`${planned.job.id} ${planned.variant}`.trim());
  const run = async (how: ScheduleChoice): Promise<JobResult> => {
    const maxSteps = settings.maxSteps ?? how.maxSteps ?? null;
    return (await runQuietly(planned, { ...quiet, ...how, maxSteps })).result;
  };
  const explored = await explore(planned.job, run, {
    budget,
    seed: settings.seed ?? undefined,
    onSchedule: (tried) => progress.step(`${tried} of ${budget} schedules`),
  });
  progress.end();
  return explored;
}

export function exploredStatus(planned: PlannedRun, { usual, found }: Explored, failOn: FailOn): ExitStatus {
  const own = statusOf({ ...planned, result: usual }, failOn);
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
