import { displayName, readable } from "../../names/index.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import type { JobResult, LaunchSummary } from "../../runtime/job/job-result.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { findingOptions, Findings } from "../options/findings.ts";
import { engineOptions, type Options } from "../options/options.ts";
import { programDetails, programOptions, programUsage } from "../options/program-options.ts";
import { eachRun } from "../runs/each-run.ts";
import { executeRun, type Finished, kernelStore, nativeCompiler } from "../runs/run-execution.ts";
import { jobToJson } from "../runs/run-json.ts";
import { planOutputs, printBuffers, saveOutputs } from "../runs/run-outputs.ts";
import { jobOptions, steeringOf, warnOfUnreached } from "../runs/run-settings.ts";
import { statusOf } from "../runs/run-status.ts";
import { grouped, plural } from "../terminal/numbers.ts";
import { Progress } from "../terminal/progress.ts";
import { renderReport } from "../terminal/render-report.ts";
import { printJson, type Terminal } from "../terminal/terminal.ts";
import { printDiagnostics } from "./check.ts";
import { exploredStatus, exploredToJson, exploreRun, printExplored } from "./explore.ts";

function printJob({ result, job }: Finished, terminal: Terminal, engine: string | null): void {
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
  const why = result.failure === null ? "" : `: ${readable(result.failure)}`;
  terminal.out(`${verdict}  ${result.id} ${style("faint", result.variant)}${why}${style("faint", cost)}`);
  const notes = new Set(result.launches.flatMap((launch) => engineNote(launch, engine)));
  for (const note of notes) terminal.err(`      ${note}`);
  // An expected report need not be shown.
  if (job.expect === null || !result.ok) printFindings(result, terminal);
}

/**
 * Says why the interpreter ran a launch that compiled code should have, or why machine code did not that was asked for;
 * nothing where an option asks for the engine that ran.
 */
function engineNote({ kernel, interpreted, notNative }: LaunchSummary, engine: string | null): string[] {
  const name = displayName(kernel);
  if (interpreted?.startsWith("not compiled: ")) return [`${name} ran in the interpreter: ${interpreted}`];
  return engine === "native" && notNative !== undefined ? [`${name} ran as WebAssembly: ${notNative}`] : [];
}

function printFindings(result: JobResult, terminal: Terminal): void {
  printDiagnostics(
    // What a run does in spite of an error of the program is said, too.
    result.diagnostics.filter((d) => d.severity === "error" || d.code === "visa-call-size-mismatch"),
    terminal,
  );
  for (const report of result.reports) terminal.out(`${renderReport(report, terminal)}\n`);
}

function printLaunch({ result, isInterrupted }: Finished, terminal: Terminal, engine: string | null): void {
  if (result.stdout !== "") terminal.out(result.stdout.replace(/\n$/, ""));
  printFindings(result, terminal);
  for (const launch of result.launches) {
    const { kernel, threads, steps, milliseconds } = launch;
    const count = steps === null ? "" : `, ${grouped(steps)} steps`;
    terminal.err(`${displayName(kernel)}: ${plural(threads, "thread")}${count}, ${milliseconds.toFixed(1)} ms`);
    for (const note of engineNote(launch, engine)) terminal.err(`  ${note}`);
  }
  if (isInterrupted) terminal.err("lanewise: interrupted: what was found and written until then is shown");
  else if (result.reports.length === 0 && result.failure !== null) {
    terminal.err(`lanewise: ${readable(result.failure)}`);
  }
}

export const run: Command = {
  name: "run",
  summary: "run jobs, or one kernel with arguments from the command line",
  usage: programUsage("run"),
  options: [
    ...programOptions,
    ...findingOptions,
    { name: "explore", value: "N", help: "run under up to N schedules, and stop at the first that makes a difference" },
    {
      name: "out",
      value: "N=FILE",
      repeats: true,
      file: "written",
      fileIn: /^[^=]+=(.+)$/s,
      help: "save the buffer of argument N (from 0; N+BYTE: of a pointer in a struct), or a variable: .npy, .bin, .json; of a texture or a surface: .png",
    },
  ],
  common: [...engineOptions, "target"],
  runsKernels: true,
  details: `${programDetails}

For example, in a clone of Lanewise:
  lanewise run examples/saxpy.ptx --kernel saxpy --block 32 \\
    --arg 20 --arg 2.5 --arg f32[32]=iota --arg f32[32]
  lanewise run examples/saxpy.visaasm --zeinfo examples/saxpy.yaml \\
    --kernel saxpy --global 32 --local 16 \\
    --arg 20 --arg 2.5 --arg f32[32]=iota --arg f32[32]

Exit status: 0 success; 1 a check failed, a schedule made a difference, or the program has errors; 2 wrong usage, or a file that cannot be read; 3 a kernel faulted, a sanitizer reported, or a limit was reached (--fail-on says which reports count); 130 Ctrl-C ended it, and what was found until then has been reported.`,
  async run(options, terminal) {
    const budget = explorationBudget(options);
    const progress = new Progress(terminal);
    const settings = jobOptions(options, progress);
    const store = kernelStore(options, terminal);
    const device = { kernelStore: store, nativeCompiler: await nativeCompiler(options, store) };
    const json = options.has("json");
    const results: Finished[] = [];
    const documents: object[] = [];
    const print = (finished: Finished, fromJob: boolean): void => {
      if (!json) (fromJob ? printJob : printLaunch)(finished, terminal, options.value("engine"));
    };

    const findings = new Findings(options, terminal);

    const { status, errors } = await eachRun(options, { command: "run", terminal }, async (planned, fromJob) => {
      const outputs = fromJob ? [] : planOutputs(options.all("out"), planned.job);
      if (budget !== null) {
        const { explored, isInterrupted } = await exploreRun(
          planned,
          { ...settings, suppress: findings.suppresses },
          { budget, progress },
        );
        findings.addRun(explored.usual);
        if (explored.found !== null) findings.addRun(explored.found.result);
        const usual = { ...planned, result: explored.usual, isInterrupted: false };
        print(usual, fromJob);
        // In the summary, a job that passes only under some schedules has failed.
        results.push({
          ...planned,
          isInterrupted: false,
          result: { ...explored.usual, ok: explored.usual.ok && explored.found === null },
        });
        documents.push(exploredToJson(explored));
        if (!json) {
          printExplored(explored, terminal);
          if (explored.found !== null) printFindings(explored.found.result, terminal);
        }
        return isInterrupted ? exitStatus.interrupted : exploredStatus(planned, explored, findings.failOn);
      }
      const steering = steeringOf(options);
      const watched = { ...settings, ...(steering && { steering }), suppress: findings.suppresses };
      const finished = await executeRun(planned, watched, { progress, terminal, device });
      const { result } = finished;
      findings.addRun(result);
      if (!fromJob && result.problem) throw result.problem;
      print(finished, fromJob);
      results.push(finished);
      documents.push(jobToJson(result));
      if (!fromJob && result.launches.length > 0) await saveOutputs(outputs, result);
      if (!fromJob && outputs.length === 0 && !json) printBuffers(result, planned.job, terminal);
      warnOfUnreached(steering, terminal);
      return statusOf(finished, findings.failOn);
    });
    const isInterrupted = status === exitStatus.interrupted;
    await findings.finish({ of: "run", completed: status !== exitStatus.usage && !isInterrupted }, terminal);
    if (json)
      printJson(
        {
          ok: status === exitStatus.ok,
          ...(isInterrupted && { interrupted: true }),
          jobs: documents,
          ...(errors.length > 0 && { errors }),
        },
        terminal,
      );
    else if (results.length > 1) terminal.out(summary(results));
    return status;
  },
};

/** The number of schedules to try, or null. */
function explorationBudget(options: Options): number | null {
  const budget = options.integer("explore", 1);
  if (budget === null) return null;
  if (options.has("schedule")) throw new UsageError("run: --explore looks for schedules, and --schedule gives one");
  if (options.has("out")) throw new UsageError("run: --out saves what one run leaves, and --explore makes many");
  return budget;
}

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
