import { Profiler, profileOf } from "../profiler/index.ts";
import { printDiagnostics } from "./check.ts";
import { type Command, exitStatus } from "./command.ts";
import { eachRun } from "./each-run.ts";
import { profileToJson } from "./profile-json.ts";
import { printProfile, rankings, type Ranking } from "./profile-table.ts";
import { programDetails, programOptions, programUsage } from "./program-options.ts";
import { Progress } from "./progress.ts";
import { renderReport } from "./render-report.ts";
import { executeRun, type Finished } from "./run-execution.ts";
import { jobToJson } from "./run-json.ts";
import { jobOptions } from "./run-settings.ts";
import { statusOf } from "./run-status.ts";
import { printJson, type Terminal } from "./terminal.ts";

/** What went wrong with the run itself. */
function printFailure({ result }: Finished, terminal: Terminal): void {
  const errors = result.diagnostics.filter((d) => d.severity === "error");
  printDiagnostics(errors, terminal);
  for (const report of result.reports) terminal.out(`${renderReport(report, terminal)}\n`);
  if (result.failure !== null) terminal.err(`lanewise: ${result.failure}`);
}

export const profile: Command = {
  name: "profile",
  summary: "run, and count what happens at every line",
  usage: programUsage("profile"),
  options: [
    ...programOptions,
    { name: "by", value: "COUNT", help: `rank lines by ${Object.keys(rankings).join(", ")} (default: instructions)` },
    { name: "top", value: "N", help: "show so many lines and functions (default: 20)" },
    { name: "lines", help: "show all lines that were executed, in the order of the source" },
  ],
  details: `Counts what the interpreter does; the numbers are the same in every run. docs/profiler.md says what each one means, and has the schema of --json.

${programDetails}

Exit status: as of lanewise run.`,
  async run(options, terminal) {
    const by = options.oneOf("by", Object.keys(rankings) as Ranking[]) ?? "instructions";
    const table = { by, top: options.number("top") ?? 20, everyLine: options.has("lines") };
    const progress = new Progress(terminal);
    const settings = jobOptions(options, progress);
    const json = options.has("json");
    const documents: object[] = [];

    const status = await eachRun(options, { command: "profile", terminal }, async (planned, fromJob) => {
      const profiler = new Profiler();
      const finished = await executeRun(planned, { ...settings, observers: [profiler] }, { progress, terminal });
      const { result } = finished;
      if (!fromJob && result.problem) throw result.problem;
      const found = profileOf(profiler);
      documents.push({ ...jobToJson(result), profile: profileToJson(found) });
      if (json) return statusOf(finished);
      const title = `${planned.job.id} ${planned.variant}`;
      if (fromJob) terminal.out(`${documents.length > 1 ? "\n" : ""}${terminal.style("strong", title)}`);
      printFailure(finished, terminal);
      if (found.launches.length > 0) printProfile(found, table, terminal);
      return statusOf(finished);
    });
    if (json) printJson({ ok: status === exitStatus.ok, jobs: documents }, terminal);
    return status;
  },
};
