import type { JobResult } from "../runtime/job-run.ts";
import { renderDiagnostic } from "../source/index.ts";
import { printDiagnostics } from "./check.ts";
import { type Command, type ExitStatus, exitStatus } from "./command.ts";
import { grouped } from "./numbers.ts";
import { programDetails, programOptions, programUsage } from "./program-options.ts";
import { Progress } from "./progress.ts";
import { renderReport } from "./render-report.ts";
import { executeRun, type Finished, kernelStore } from "./run-execution.ts";
import { jobToJson } from "./run-json.ts";
import { planOutputs, printBuffers, saveOutputs } from "./run-outputs.ts";
import { commandJob, jobRuns, jobsOf, type PlannedRun } from "./run-plan.ts";
import { jobOptions } from "./run-settings.ts";
import { statusOf, worst } from "./run-status.ts";
import { printJson, type Terminal } from "./terminal.ts";

function printJob({ result, job }: Finished, terminal: Terminal): void {
  const { style } = terminal;
  const steps = result.launches.reduce<number | null>(
    (sum, l) => (sum === null || l.steps === null ? null : sum + l.steps),
    0,
  );
  const time = result.launches.reduce((sum, l) => sum + l.milliseconds, 0);
  const verdict = result.ok
    ? style("help", "ok  ")
    : result.skipped
      ? style("warning", "skip")
      : style("error", "FAIL");
  const cost =
    result.launches.length > 0 ? `  ${steps === null ? "" : `${grouped(steps)} steps, `}${time.toFixed(1)} ms` : "";
  const why = result.failure === null ? "" : `: ${result.failure}`;
  terminal.out(`${verdict}  ${result.id} ${style("faint", result.variant)}${why}${style("faint", cost)}`);
  // A report that was asked for is no news.
  if (job.expect === null || !result.ok) printFindings(result, terminal);
}

function printFindings(result: JobResult, terminal: Terminal): void {
  printDiagnostics(
    result.diagnostics.filter((d) => d.severity === "error"),
    terminal,
  );
  for (const report of result.reports) terminal.out(`${renderReport(report, terminal)}\n`);
}

function printLaunch({ result }: Finished, terminal: Terminal): void {
  if (result.stdout !== "") terminal.out(result.stdout.replace(/\n$/, ""));
  printFindings(result, terminal);
  for (const { kernel, threads, steps, milliseconds } of result.launches) {
    const count = steps === null ? "" : `, ${grouped(steps)} steps`;
    terminal.err(`${kernel}: ${grouped(threads)} threads${count}, ${milliseconds.toFixed(1)} ms`);
  }
  if (result.reports.length === 0 && result.failure !== null) terminal.err(`lanewise: ${result.failure}`);
}

export const run: Command = {
  name: "run",
  summary: "run jobs, or one kernel with arguments from the command line",
  usage: programUsage("run"),
  options: [
    ...programOptions,
    { name: "out", value: "N=FILE", repeats: true, help: "save the buffer of argument N (from 0): .npy, .bin, .json" },
  ],
  details: `${programDetails}

For example, in a clone of Lanewise:
  lanewise run examples/saxpy.ptx --kernel saxpy --block 32 \\
    --arg 20 --arg 2.5 --arg f32[32]=iota --arg f32[32]
  lanewise run examples/saxpy.visaasm --zeinfo examples/saxpy.yaml \\
    --kernel saxpy --global 32 --local 16 \\
    --arg 20 --arg 2.5 --arg f32[32]=iota --arg f32[32]

Exit status: 0 all is well; 1 a check failed or the program has errors; 2 wrong usage, or a file that cannot be read; 3 a kernel faulted, a sanitizer reported, or a limit was reached.`,
  async run(options, terminal) {
    const jobs = jobsOf(options, "run");
    const progress = new Progress(terminal);
    const settings = jobOptions(options, progress);
    const json = options.has("json");
    const device = { kernelStore: kernelStore(options) };
    const finish = (planned: PlannedRun): Promise<Finished> =>
      executeRun(planned, settings, { progress, terminal, device });

    if (jobs === null) {
      const planned = commandJob(options, "run");
      const outputs = planOutputs(options.all("out"), planned.job);
      const finished = await finish(planned);
      if (finished.result.problem) throw finished.result.problem;
      if (json) printJson({ ok: finished.result.ok, jobs: [jobToJson(finished.result)] }, terminal);
      else printLaunch(finished, terminal);
      if (finished.result.launches.length > 0) saveOutputs(outputs, finished.result);
      if (outputs.length === 0 && !json) printBuffers(finished.result, planned.job, terminal);
      return statusOf(finished);
    }

    const results: Finished[] = [];
    const statuses: ExitStatus[] = [];
    for (const { runs, diagnostics, problem } of jobRuns(jobs, options.value("variant"))) {
      if (problem !== null) terminal.err(`lanewise: ${problem}`);
      for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
      if (problem !== null || diagnostics.length > 0) statuses.push(exitStatus.usage);
      for (const planned of runs) {
        const finished = await finish(planned);
        results.push(finished);
        statuses.push(statusOf(finished));
        if (!json) printJob(finished, terminal);
      }
    }
    const status = worst(statuses);
    if (json) printJson({ ok: status === exitStatus.ok, jobs: results.map((r) => jobToJson(r.result)) }, terminal);
    else if (results.length > 1) terminal.out(summary(results));
    return status;
  },
};

function summary(results: readonly Finished[]): string {
  const count = (what: (r: JobResult) => boolean): number => results.filter((r) => what(r.result)).length;
  const skipped = count((r) => r.skipped !== null);
  const passed = count((r) => r.ok);
  const failed = results.length - passed - skipped;
  return [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(", ");
}
