import { UsageError } from "../../runtime/data/errors.ts";
import { type Diagnostic, renderDiagnostic, renderPlace } from "../../source/index.ts";
import { type ExitStatus, exitStatus } from "../options/command.ts";
import type { Options } from "../options/options.ts";
import { stdin } from "../terminal/files.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { commandJob, jobRuns, type PlannedRun } from "./run-plan.ts";
import { worst } from "./run-status.ts";

/** What a job says itself. */
const programOnly = [
  ...["kernel", "grid", "block", "shared", "global", "local", "arg", "out", "isa"],
  ...["zeinfo", "section", "symbol", "relocation", "input"],
];

/** The name of stdin says nothing. What is alone there, without all that a job says itself, is a job. */
const isJob = (path: string, options: Options): boolean =>
  /\.json$/i.test(path) ||
  (path === stdin && options.positionals.length === 1 && !programOnly.some((name) => options.has(name)));

/**
 * The job files that a command is given, or null where it is given the files of one program.
 *
 * @throws UsageError where it is given both, or nothing, or an option that means nothing there
 */
export function jobsOf(options: Options, command: string): readonly string[] | null {
  const { positionals } = options;
  if (positionals.length === 0) throw new UsageError(`${command}: no job or program given`);
  const jobs = positionals.filter((path) => isJob(path, options));
  if (jobs.length > 0 && jobs.length < positionals.length) {
    throw new UsageError(`${command}: give either jobs (.json) or the files of one program`);
  }
  const isProgram = jobs.length === 0;
  const useless = (isProgram ? ["variant"] : programOnly).find((name) => options.has(name));
  if (useless === undefined) return isProgram ? null : jobs;
  throw new UsageError(
    `${command}: --${useless} ${isProgram ? "is for jobs (.json)" : "is for programs; a job says that itself"}`,
  );
}

/** `fromJob`: the run is one of a job file's. */
type Perform = (planned: PlannedRun, fromJob: boolean) => Promise<ExitStatus>;

interface Performed {
  /** Of all runs together. */
  readonly status: ExitStatus;
  /** What is wrong with job files, which has been said on stderr. */
  readonly errors: readonly string[];
}

/** Performs each run that a command line asks for. */
export async function eachRun(
  options: Options,
  { command, terminal }: { readonly command: string; readonly terminal: Terminal },
  perform: Perform,
): Promise<Performed> {
  const jobs = jobsOf(options, command);
  if (jobs === null) return { status: await perform(commandJob(options, command), false), errors: [] };
  const statuses: ExitStatus[] = [];
  const errors: string[] = [];
  for (const { runs, diagnostics, problem } of jobRuns(jobs, options.value("variant"))) {
    if (problem !== null) terminal.err(`lanewise: ${problem}`);
    for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
    errors.push(...(problem === null ? [] : [problem]), ...diagnostics.map(briefly));
    if (problem !== null || diagnostics.length > 0) statuses.push(exitStatus.usage);
    for (const planned of runs) statuses.push(await perform(planned, true));
  }
  return { status: worst(statuses), errors };
}

const briefly = (d: Diagnostic): string => `${renderPlace(d.source, d.span)}: ${d.message}`;
