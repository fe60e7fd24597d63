import { launchesOf } from "../../debugger/program.ts";
import { Session, type SessionOptions } from "../../debugger/session.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { parseSchedule, ScriptedSteering } from "../../runtime/explore/schedule-script.ts";
import { renderDiagnostic } from "../../source/index.ts";
import type { Options } from "../options/options.ts";
import { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { jobsOf } from "./each-run.ts";
import { openRun } from "./run-execution.ts";
import { commandJob, jobRuns, type PlannedRun } from "./run-plan.ts";
import { jobOptions } from "./run-settings.ts";

/** The one run that a command line names: of a job its first variant, if none is asked for. */
function plannedRun(options: Options, command: string, terminal: Terminal): PlannedRun {
  const jobs = jobsOf(options, command);
  if (jobs === null) return commandJob(options, command);
  if (jobs.length > 1) throw new UsageError(`${command}: one job at a time`);
  for (const { runs, diagnostics, problem } of jobRuns(jobs, options.value("variant"))) {
    for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
    if (problem !== null) throw new UsageError(problem);
    if (runs[0] !== undefined) return runs[0];
  }
  throw new UsageError(`${jobs[0]} cannot be run`);
}

/**
 * A debugger at the beginning of what a command line names.
 *
 * @throws LoadError when the program has errors, UsageError and NotExecutableError when it cannot be run
 */
export async function openSession(
  options: Options,
  terminal: Terminal,
  { command, ...session }: SessionOptions & { readonly command: string },
): Promise<Session> {
  const planned = plannedRun(options, command, terminal);
  const schedule = options.value("schedule");
  const steering = schedule === null ? {} : { steering: new ScriptedSteering(parseSchedule(schedule)) };
  const run = await openRun(planned, { ...jobOptions(options, new Progress(terminal)), ...steering });
  const launches = launchesOf(run);
  return new Session(run.device.memory, launches, session);
}
