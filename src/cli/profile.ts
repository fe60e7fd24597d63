import { Profiler, profileOf } from "../profiler/index.ts";
import { renderDiagnostic } from "../source/index.ts";
import { printDiagnostics } from "./check.ts";
import { type Command, type ExitStatus, exitStatus } from "./command.ts";
import { profileToJson } from "./profile-json.ts";
import { printProfile, rankings, type Ranking } from "./profile-table.ts";
import { programDetails, programOptions, programUsage } from "./program-options.ts";
import { Progress } from "./progress.ts";
import { renderReport } from "./render-report.ts";
import { executeRun, type Finished } from "./run-execution.ts";
import { jobToJson } from "./run-json.ts";
import { commandJob, jobRuns, jobsOf, type PlannedRun } from "./run-plan.ts";
import { jobOptions } from "./run-settings.ts";
import { statusOf, worst } from "./run-status.ts";
import { printJson, type Terminal } from "./terminal.ts";

interface Profiled extends Finished {
  readonly profile: ReturnType<typeof profileOf>;
}

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
    const jobs = jobsOf(options, "profile");
    const by = options.oneOf("by", Object.keys(rankings) as Ranking[]) ?? "instructions";
    const table = { by, top: options.number("top") ?? 20, everyLine: options.has("lines") };
    const progress = new Progress(terminal);
    const settings = jobOptions(options, progress);
    const json = options.has("json");
    const all: Profiled[] = [];
    const statuses: ExitStatus[] = [];
    const one = async (planned: PlannedRun): Promise<void> => {
      const profiler = new Profiler();
      const finished = await executeRun(planned, { ...settings, observers: [profiler] }, { progress, terminal });
      const profiled = { ...finished, profile: profileOf(profiler) };
      all.push(profiled);
      statuses.push(statusOf(finished));
      if (json) return;
      if (jobs !== null)
        terminal.out(terminal.style("strong", `${all.length > 1 ? "\n" : ""}${planned.job.id} ${planned.variant}`));
      printFailure(finished, terminal);
      if (profiled.profile.launches.length > 0) printProfile(profiled.profile, table, terminal);
    };

    if (jobs === null) {
      await one(commandJob(options, "profile"));
      const [only] = all;
      if (only?.result.problem) throw only.result.problem;
    }
    for (const { runs, diagnostics, problem } of jobRuns(jobs ?? [], options.value("variant"))) {
      if (problem !== null) terminal.err(`lanewise: ${problem}`);
      for (const d of diagnostics) terminal.err(renderDiagnostic(d, terminal));
      if (problem !== null || diagnostics.length > 0) statuses.push(exitStatus.usage);
      for (const planned of runs) await one(planned);
    }
    const status = worst(statuses);
    if (json) {
      const found = all.map(({ result, profile }) => ({ ...jobToJson(result), profile: profileToJson(profile) }));
      printJson({ ok: status === exitStatus.ok, jobs: found }, terminal);
    }
    return status;
  },
};
