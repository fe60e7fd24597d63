import { UsageError } from "../../runtime/data/errors.ts";
import { type Diagnostic, renderDiagnostic, renderPlace } from "../../source/index.ts";
import { type ExitStatus, exitStatus } from "../options/command.ts";
import type { Options } from "../options/options.ts";
import { stdin } from "../terminal/files.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { InterruptWatch } from "./interruption.ts";
import { commandJob, jobRuns, type PlannedRun } from "./run-plan.ts";
import { worst } from "./run-status.ts";

/** The options that make no sense for a job, which says these things itself. */
const programOnly = [
  ...["kernel", "grid", "block", "cluster", "blocks", "shared", "global", "local", "arg", "out", "isa"],
  ...["zeinfo", "section", "symbol", "relocation", "input"],
];

/**
 * Whether a path is that of a job. Stdin has no name to tell by; it is a job if it is the only file and no option
 * describes a program.
 */
const isJob = (path: string, options: Options): boolean =>
  /\.json$/i.test(path) ||
  (path === stdin && options.positionals.length === 1 && !programOnly.some((name) => options.has(name)));

/**
 * The job files of a command line, or null if it has the files of one program.
 *
 * @throws UsageError if it has both, or neither, or an option that does not apply
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

/** Performs a run. `fromJob` is true for the runs of a job file. */
type Perform = (planned: PlannedRun, fromJob: boolean) => Promise<ExitStatus>;

interface Performed {
  /** The status of all runs together. */
  readonly status: ExitStatus;
  /** The errors of job files, which have already been printed on stderr. */
  readonly errors: readonly string[];
}

/** Performs every run that a command line asks for. */
export async function eachRun(
  options: Options,
  { command, terminal }: { readonly command: string; readonly terminal: Terminal },
  perform: Perform,
): Promise<Performed> {
  const watch = new InterruptWatch();
  try {
    const performed = await eachRunOf(options, { command, terminal }, async (planned, fromJob) =>
      // Runs that have not begun are left out.
      watch.isInterrupted ? exitStatus.interrupted : perform(planned, fromJob),
    );
    return watch.isInterrupted ? { ...performed, status: exitStatus.interrupted } : performed;
  } finally {
    watch.end();
  }
}

async function eachRunOf(
  options: Options,
  { command, terminal }: { readonly command: string; readonly terminal: Terminal },
  perform: Perform,
): Promise<Performed> {
  const jobs = jobsOf(options, command);
  if (jobs === null) return { status: await perform(commandJob(options, command), false), errors: [] };
  const statuses: ExitStatus[] = [];
  const errors: string[] = [];
  for (const { runs, diagnostics, problem } of jobRuns(jobs, options)) {
    if (problem !== null) terminal.err(`lanewise: ${problem}`);
    for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
    errors.push(...(problem === null ? [] : [problem]), ...diagnostics.map(briefly));
    if (problem !== null || diagnostics.length > 0) statuses.push(exitStatus.usage);
    for (const planned of runs) {
      statuses.push(await perform(planned, true));
      if (statuses.at(-1) === exitStatus.interrupted) break;
    }
    if (statuses.includes(exitStatus.interrupted)) break;
  }
  return { status: worst(statuses), errors };
}

const briefly = (d: Diagnostic): string => `${renderPlace(d.source, d.span)}: ${d.message}`;
