import { basename } from "node:path";
import { assertionLines } from "../../cuda/run/assertion.ts";
import { gpus } from "../../cuda/state/gpu.ts";
import { stackLines } from "../../cuda/base/host-frame.ts";
import { loadNative } from "../../node/exec/native.ts";
import { profileOf, Profiler } from "../../profiler/index.ts";
import { UsageError } from "../../runtime/data/errors.ts";
import { type Command, type ExitStatus, exitStatus } from "../options/command.ts";
import { engineOptions, type Options } from "../options/options.ts";
import { type ExecDocument, type ExecPlan, execProgram, type ExecResult } from "../runs/exec-run.ts";
import { kernelStore, nativeCompiler } from "../runs/run-execution.ts";
import { reportToJson } from "../runs/run-json.ts";
import { launchDefaults } from "../runs/run-settings.ts";
import { writeBytes } from "../terminal/files.ts";
import { renderReport } from "../terminal/render-report.ts";
import { printJson, type Terminal } from "../terminal/terminal.ts";

/** A terminal that looks for sources in the folder of the program too: its PTX has no path of its own. */
const besideProgram = (program: string, terminal: Terminal): Terminal => ({
  ...terminal,
  readOrigin: (path) => terminal.readOrigin?.(path, program) ?? null,
});

/** The program and how it is run, as the options say. */
async function planOf(options: Options, terminal: Terminal): Promise<ExecPlan> {
  const [program, ...args] = options.positionals;
  if (program === undefined) throw new UsageError("exec: no program is given");
  const native = loadNative();
  if (typeof native === "string") throw new UsageError(`exec is not available: ${native}`);
  const name = options.value("gpu");
  const gpu = name === null ? null : gpus[name];
  if (gpu === undefined) throw new UsageError(`--gpu ${name}: expected ${Object.keys(gpus).join(", ")}`);
  const launch = launchDefaults(options);
  const store = kernelStore(options, terminal);
  const near = besideProgram(program, terminal);
  const compiler = await nativeCompiler(options, store);
  const checksCalls = options.has("sanitize") && options.value("sanitize") !== "none";
  return {
    native,
    program,
    args,
    options: { gpu, devices: options.integer("devices", 1) ?? 1, launch, checksCalls },
    device: { hostThreads: launch.hostThreads ?? 1, kernelStore: store, nativeCompiler: compiler },
    stdout: options.has("json") ? "stderr" : "inherit",
    recording: options.value("record"),
    document: options.has("json") && options.integer("explore", 1) === null ? entries : null,
    warn: (text) => terminal.err(`lanewise: ${text}`),
    onReports(reports, launchedAt) {
      for (const line of reports.flatMap(assertionLines)) terminal.err(line);
      for (const report of reports) terminal.err(renderReport(report, near));
      if (launchedAt.length > 0) terminal.err(["      the kernel was launched", ...stackLines(launchedAt)].join("\n"));
    },
  };
}

/** The program's own status; 3 if that is 0, sanitizers were asked for, and there was an error in a report. */
function statusOf({ status, reports, misuses }: ExecResult, isSanitized: boolean): number {
  const hasErrors =
    misuses.length > 0 || reports.some((launch) => launch.reports.some(({ severity }) => severity === "error"));
  return status === 0 && isSanitized && hasErrors ? exitStatus.faulted : status;
}

/** The entries of the document of `--json`. */
const entries: ExecDocument = {
  launch: ({ kernel, grid, block, result: { engine, interpreted, notNative, milliseconds, ok } }) => ({
    kernel,
    grid,
    block,
    engine,
    ...(interpreted === null ? {} : { interpreted }),
    ...(notNative === undefined ? {} : { notNative }),
    milliseconds,
    ok,
  }),
  reports: ({ reports, launchedAt }) =>
    reports.map((report) => ({ ...reportToJson(report), ...(launchedAt.length === 0 ? {} : { launchedAt }) })),
};

const resultToJson = (result: ExecResult, status: number): object => ({
  ok: status === 0,
  status: result.status,
  launches: result.launches.map(entries.launch),
  ...(result.misuses.length === 0 ? {} : { misuses: result.misuses }),
  reports: result.reports.flatMap(entries.reports),
});

/** Runs the program, and writes a page of what its kernels do. */
async function profileProgram(plan: ExecPlan, path: string, terminal: Terminal): Promise<ExecResult> {
  const profiler = new Profiler();
  const launch = { ...plan.options.launch, observers: [profiler] };
  const result = await execProgram({ ...plan, options: { ...plan.options, launch } });
  const profile = profileOf(profiler);
  if (profile.launches.length > 0) {
    const { profilePage } = await import("../profile/profile-page.ts");
    const page = profilePage(profile, {
      title: `Profile of ${basename(plan.program)}`,
      failure: null,
      readOrigin: (name) => terminal.readOrigin?.(name, plan.program)?.text ?? null,
    });
    writeBytes(path, page);
  }
  return result;
}

/** The results of a run that must not depend on the schedule. */
const outcomeOf = ({ status, stdout, reports }: ExecResult): string =>
  JSON.stringify([
    status,
    stdout,
    [...new Set(reports.flatMap((launch) => launch.reports.map(({ code, kernel }) => `${code} ${kernel}`)))].sort(),
  ]);

/** Runs the program under several schedules, until it does something else than before. */
async function exploreProgram(plan: ExecPlan, runs: number, terminal: Terminal): Promise<ExecResult> {
  // A document has stdout to itself.
  const show = plan.stdout === "stderr" ? terminal.err : terminal.out;
  const run = (seed: number): Promise<ExecResult> => {
    const launch = { ...plan.options.launch, seed };
    return execProgram({ ...plan, options: { ...plan.options, launch }, stdout: "keep", onReports: () => {} });
  };
  const first = await run(0);
  show(first.stdout.replace(/\n$/, ""));
  for (let seed = 1; seed < runs; seed++) {
    const other = await run(seed);
    if (outcomeOf(other) === outcomeOf(first)) continue;
    terminal.err(`lanewise: with --seed ${seed} the program does something else than with --seed 0:`);
    terminal.err(other.stdout.replace(/\n$/, ""));
    for (const { reports, launchedAt } of other.reports) plan.onReports(reports, launchedAt);
    terminal.err(`lanewise: exit status ${other.status}, with --seed 0 it is ${first.status}`);
    return { ...other, status: other.status === 0 ? exitStatus.failed : other.status };
  }
  for (const { reports, launchedAt } of first.reports) plan.onReports(reports, launchedAt);
  terminal.err(`lanewise: ${runs} schedules, the same output and exit status`);
  return first;
}

async function runProgram(options: Options, terminal: Terminal): Promise<number> {
  const plan = await planOf(options, terminal);
  const runs = options.integer("explore", 1);
  const page = options.value("profile");
  if (runs !== null && page !== null) throw new UsageError("give either --explore or --profile");
  const result =
    runs !== null
      ? await exploreProgram(plan, runs, terminal)
      : page !== null
        ? await profileProgram(plan, page, terminal)
        : await execProgram(plan);
  const status = statusOf(result, plan.options.checksCalls === true);
  if (options.has("json")) printJson(resultToJson(result, status), terminal);
  return status;
}

export const exec: Command = {
  name: "exec",
  summary: "run a CUDA program, as it is, without a GPU",
  usage: ["exec PROGRAM [ARGUMENTS…]"],
  options: [
    {
      name: "gpu",
      value: "NAME",
      help: `the GPU to be: ${Object.keys(gpus).join(", ")} (default: the first that the program's PTX is for)`,
    },
    { name: "devices", value: "N", help: "the number of GPUs (default: 1)" },
    { name: "explore", value: "N", help: "run the program under N schedules, until it does something else" },
    {
      name: "record",
      value: "FILE",
      file: "written",
      help: "write down all launches with the memory that they find, for `lanewise debug FILE`",
    },
    {
      name: "profile",
      value: "FILE",
      file: "written",
      help: "write a page with counts for every line of its kernels",
    },
  ],
  common: engineOptions,
  passesOn: true,
  runsKernels: true,
  details:
    "PROGRAM is an executable for Linux on x86-64 that was built with CUDA 13, with the shared or the static runtime (in that case not stripped). It runs as it is, with its arguments, its environment and its terminal; the exit status is its own, or with --sanitize 3 if it is 0 and there was an error in a report. Its kernels need PTX in it: nvcc puts it there unless it is told not to. docs/exec.md says what is supported.",
  run: (options, terminal) => runProgram(options, terminal) as Promise<ExitStatus>,
};
