import { UsageError } from "../runtime/errors.ts";
import { renderDiagnostic } from "../source/index.ts";
import { type ExitStatus, exitStatus } from "./command.ts";
import type { Options } from "./options.ts";
import { commandJob, jobRuns, type PlannedRun } from "./run-plan.ts";
import { worst } from "./run-status.ts";
import type { Terminal } from "./terminal.ts";

/**
 * The job files that a command is given, or null where it is given the files of one program.
 *
 * @throws UsageError where it is given both, or nothing
 */
function jobsOf({ positionals }: Options, command: string): readonly string[] | null {
  if (positionals.length === 0) throw new UsageError(`${command}: no job or program given`);
  const jobs = positionals.filter((path) => /\.json$/i.test(path));
  if (jobs.length > 0 && jobs.length < positionals.length) {
    throw new UsageError(`${command}: give either jobs (.json) or the files of one program`);
  }
  return jobs.length === 0 ? null : jobs;
}

/** `fromJob`: the run is one of a job file's. */
type Perform = (planned: PlannedRun, fromJob: boolean) => Promise<ExitStatus>;

/** Performs each run that a command line asks for, and says on stderr what is wrong with job files; returns the status of all. */
export async function eachRun(
  options: Options,
  { command, terminal }: { readonly command: string; readonly terminal: Terminal },
  perform: Perform,
): Promise<ExitStatus> {
  const jobs = jobsOf(options, command);
  if (jobs === null) return await perform(commandJob(options, command), false);
  const statuses: ExitStatus[] = [];
  for (const { runs, diagnostics, problem } of jobRuns(jobs, options.value("variant"))) {
    if (problem !== null) terminal.err(`lanewise: ${problem}`);
    for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
    if (problem !== null || diagnostics.length > 0) statuses.push(exitStatus.usage);
    for (const planned of runs) statuses.push(await perform(planned, true));
  }
  return worst(statuses);
}
