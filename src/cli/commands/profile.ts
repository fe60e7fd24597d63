import { readable } from "../../names/index.ts";
import { basename, dirname, join } from "node:path";
import { type Profile, profileOf, Profiler } from "../../profiler/index.ts";
import { type Command, exitStatus } from "../options/command.ts";
import { kernelOptions } from "../options/options.ts";
import { programDetails, programOptions, programUsage } from "../options/program-options.ts";
import { profileToJson } from "../profile/profile-json.ts";
import { printProfile, type Ranking, rankings } from "../profile/profile-table.ts";
import { eachRun } from "../runs/each-run.ts";
import { executeRun, type Finished } from "../runs/run-execution.ts";
import { jobToJson } from "../runs/run-json.ts";
import { jobOptions, steeringOf, warnOfUnreached } from "../runs/run-settings.ts";
import { statusOf } from "../runs/run-status.ts";
import { FileError, readText, writeBytes } from "../terminal/files.ts";
import { Progress } from "../terminal/progress.ts";
import { renderReport } from "../terminal/render-report.ts";
import { printJson, type Terminal } from "../terminal/terminal.ts";
import { printDiagnostics } from "./check.ts";

/** Prints what went wrong in the run itself. */
function printFailure({ result }: Finished, terminal: Terminal): void {
  const errors = result.diagnostics.filter((d) => d.severity === "error");
  printDiagnostics(errors, terminal);
  for (const report of result.reports) terminal.out(`${renderReport(report, terminal)}\n`);
  if (result.failure !== null) terminal.err(`lanewise: ${readable(result.failure)}`);
}

/** The path of the n-th page, if several runs have one each: "out.html", "out-2.html", ... */
const numbered = (path: string, n: number): string => (n === 1 ? path : path.replace(/(\.\w+)?$/, `-${n}$1`));

/** Reads higher-level sources from where the program says they are, or from next to the program. */
const originReader =
  ({ lines, sources }: Profile, { readOrigin }: Terminal) =>
  (path: string): string | null => {
    const program = sources.find((line) => line.path === path)?.program.path;
    const found = program === undefined ? null : (readOrigin?.(path, program) ?? null);
    if (found !== null) return found.text;
    const beside = new Set(lines.map((l) => dirname(l.source.path)));
    const folders = [...beside].flatMap((folder) => [folder, join(folder, ".."), join(folder, "../..")]);
    const places = [path, ...folders.flatMap((folder) => [join(folder, path), join(folder, basename(path))])];
    for (const place of places) {
      try {
        return readText(place).text;
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
      }
    }
    return null;
  };

export const profile: Command = {
  name: "profile",
  summary: "run, and count what happens at every line",
  usage: programUsage("profile"),
  options: [
    ...programOptions,
    { name: "by", value: "COUNT", help: `rank lines by ${Object.keys(rankings).join(", ")} (default: instructions)` },
    { name: "top", value: "N", help: "how many lines and functions to show (default: 20)" },
    {
      name: "html",
      value: "FILE",
      file: "written",
      help: "write a page with the source as a heat map, calls, and lanes over time",
    },
    {
      name: "warps",
      value: "N",
      help: "record the lanes of the first N warps of each launch (default: 4, at most 32)",
    },
    { name: "lines", help: "show all lines that were executed, in the order of the source" },
  ],
  common: [...kernelOptions, "timeout", "target"],
  details: `Counts what the interpreter does; the numbers are the same in every run. docs/profiler.md says what each one means, and has the schema of --json.

${programDetails}

Exit status: as for lanewise run.`,
  async run(options, terminal) {
    const by = options.oneOf("by", Object.keys(rankings) as Ranking[]) ?? "instructions";
    const table = { by, top: options.integer("top", 1) ?? 20, everyLine: options.has("lines") };
    const timelinesOfLaunch = options.integer("warps");
    const progress = new Progress(terminal);
    const settings = jobOptions(options, progress);
    const json = options.has("json");
    const documents: object[] = [];

    const { status, errors } = await eachRun(options, { command: "profile", terminal }, async (planned, fromJob) => {
      const profiler = new Profiler(timelinesOfLaunch === null ? {} : { timelinesOfLaunch });
      const steering = steeringOf(options);
      const watched = { ...settings, ...(steering && { steering }), observers: [profiler] };
      const finished = await executeRun(planned, watched, { progress, terminal });
      const { result } = finished;
      if (!fromJob && result.problem) throw result.problem;
      const found = profileOf(profiler);
      warnOfUnreached(steering, terminal);
      documents.push({ ...jobToJson(result), profile: profileToJson(found) });
      const title = `${planned.job.id} ${planned.variant}`.trim();
      const path = options.value("html");
      if (path !== null && found.launches.length > 0) {
        const { profilePage } = await import("../profile/profile-page.ts");
        const page = profilePage(found, {
          title: `Profile of ${title}`,
          failure: result.failure === null ? null : readable(result.failure),
          readOrigin: originReader(found, terminal),
        });
        writeBytes(numbered(path, documents.length), page);
      }
      if (json) return statusOf(finished);
      if (fromJob) terminal.out(`${documents.length > 1 ? "\n" : ""}${terminal.style("strong", title)}`);
      printFailure(finished, terminal);
      if (found.launches.length > 0) printProfile(found, table, terminal);
      return statusOf(finished);
    });
    if (json)
      printJson(
        {
          ok: status === exitStatus.ok,
          ...(status === exitStatus.interrupted && { interrupted: true }),
          jobs: documents,
          ...(errors.length > 0 && { errors }),
        },
        terminal,
      );
    return status;
  },
};
