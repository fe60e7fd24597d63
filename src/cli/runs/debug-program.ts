import { stackLines } from "../../cuda/base/host-frame.ts";
import { isRecording } from "../../cuda/record/format.ts";
import { Recording } from "../../cuda/record/recording.ts";
import { launchesOf } from "../../debugger/program.ts";
import { Session, type SessionOptions } from "../../debugger/session.ts";
import type { LaunchStarter } from "../../debugger/timeline.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { PtxDevice } from "../../runtime/device/ptx-device.ts";
import { parseSchedule, ScriptedSteering } from "../../runtime/explore/schedule-script.ts";
import { renderDiagnostic } from "../../source/index.ts";
import type { Options } from "../options/options.ts";
import { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { beginningOf, readBytes } from "../terminal/files.ts";
import { jobsOf } from "./each-run.ts";
import { openRun } from "./run-execution.ts";
import { commandJob, jobRuns, type PlannedRun } from "./run-plan.ts";
import { jobOptions, launchDefaults } from "./run-settings.ts";

/** The run that a command line asks for. For a job, it is the first variant unless one is named. */
function plannedRun(options: Options, command: string, terminal: Terminal): PlannedRun {
  const jobs = jobsOf(options, command);
  if (jobs === null) return commandJob(options, command);
  if (jobs.length > 1) throw new UsageError(`${command}: one job at a time`);
  for (const { runs, diagnostics, problem } of jobRuns(jobs, options)) {
    for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
    if (problem !== null) throw new UsageError(problem);
    if (runs[0] !== undefined) return runs[0];
  }
  throw new UsageError(`${jobs[0]} cannot be run`);
}

/** Opens a debugger at the beginning of a program that `lanewise exec --record` has recorded. */
function openRecording(path: string, options: Options, session: SessionOptions): Session {
  const { engine: _, hostThreads: __, timeoutMs: ___, ...settings } = launchDefaults(options);
  const device = new PtxDevice();
  const recording = new Recording(readBytes(path), device);
  const { launches } = recording;
  if (launches.length === 0) throw new UsageError(`${path}: the program has launched no kernel`);
  const launchNotes = launches.map(({ stack, ...launch }) => ({ ...launch, stack: stackLines(stack) }));
  const starters = launches.map(
    (_launch, i): LaunchStarter =>
      (print) =>
        recording.begin(i, settings, print),
  );
  return new Session(device.memory, starters, { ...session, launchNotes });
}

/**
 * Opens a debugger at the beginning of the run that a command line asks for.
 *
 * @throws LoadError if the program has errors
 * @throws UsageError if it cannot be run as asked
 * @throws NotExecutableError if the kernel may reach an instruction that is not modelled
 */
export async function openSession(
  options: Options,
  terminal: Terminal,
  { command, ...session }: SessionOptions & { readonly command: string },
): Promise<Session> {
  const [file, ...others] = options.positionals;
  if (file !== undefined && isRecording(beginningOf(file, 64))) {
    if (others.length > 0) throw new UsageError(`${command}: one recording at a time`);
    return openRecording(file, options, session);
  }
  const planned = plannedRun(options, command, terminal);
  const schedule = options.value("schedule");
  const steering = schedule === null ? {} : { steering: new ScriptedSteering(parseSchedule(schedule)) };
  const run = await openRun(planned, { ...jobOptions(options, new Progress(terminal)), ...steering });
  const launches = launchesOf(run);
  return new Session(run.device.memory, launches, session);
}
