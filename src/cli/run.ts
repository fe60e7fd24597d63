import { availableParallelism } from "node:os";
import { sanitizerNames } from "../runtime/module.ts";
import { UsageError } from "../runtime/errors.ts";
import { type JobOptions, type JobResult, JobRun } from "../runtime/job-run.ts";
import { openKernelFolder } from "../node/index.ts";
import { type DeviceOptions, PtxDevice } from "../runtime/ptx-device.ts";
import type { KernelStore } from "../runtime/index.ts";
import type { SanitizerName } from "../machine/launch.ts";
import { renderDiagnostic } from "../source/index.ts";
import { printDiagnostics } from "./check.ts";
import { type Command, type ExitStatus, exitStatus } from "./command.ts";
import type { Options } from "./options.ts";
import { Progress } from "./progress.ts";
import { renderReport } from "./render-report.ts";
import { jobToJson } from "./run-json.ts";
import { planOutputs, printBuffers, saveOutputs } from "./run-outputs.ts";
import { commandJob, jobRuns, type PlannedRun } from "./run-plan.ts";
import { printJson, type Terminal } from "./terminal.ts";

function parseSanitizers(text: string | null): ReadonlySet<SanitizerName> | null {
  if (text === null) return null;
  const groups: Readonly<Record<string, readonly string[]>> = { all: sanitizerNames, none: [] };
  const names = text.split(",").flatMap((name) => groups[name] ?? [name]);
  for (const name of names) {
    if ((sanitizerNames as readonly string[]).includes(name)) continue;
    const why = /^(init|race)$/.test(name)
      ? `the sanitizer "${name}" is not there yet`
      : `there is no sanitizer "${name}"`;
    throw new UsageError(`--sanitize ${text}: ${why} (${sanitizerNames.join(", ")}, all, none)`);
  }
  return new Set(names as SanitizerName[]);
}

function jobOptions(options: Options, progress: Progress): JobOptions {
  const seconds = options.number("timeout", "any");
  return {
    engine: options.oneOf("engine", ["interpreter", "jit"]) ?? "interpreter",
    hostThreads: options.number("threads") ?? availableParallelism(),
    sanitize: parseSanitizers(options.value("sanitize")),
    seed: options.number("seed"),
    maxSteps: options.number("max-steps"),
    timeoutMs: seconds === null ? null : seconds * 1000,
    target: options.target,
    onProgress: progress.update,
  };
}

/** Where compiled kernels are kept. */
function kernelStore(options: Options): KernelStore | null {
  const path = options.value("cache");
  return options.has("no-cache") ? null : openKernelFolder(path === null ? {} : { path });
}

function statusOf({ result, job }: Finished): ExitStatus {
  if (result.ok) return exitStatus.ok;
  if (result.problem) return exitStatus.usage;
  const faulted = result.reports.some((report) => report.severity === "error");
  return job.expect === null && faulted ? exitStatus.faulted : exitStatus.failed;
}

interface Finished extends PlannedRun {
  readonly result: JobResult;
}

/** The status of all: wrong usage before faults before failed checks. */
const worst = (statuses: readonly ExitStatus[]): ExitStatus =>
  [exitStatus.usage, exitStatus.faulted, exitStatus.failed].find((s) => statuses.includes(s)) ?? exitStatus.ok;

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

/** With commas between thousands. `toLocaleString` would first load what the host knows of languages, which takes 17 ms. */
const grouped = (n: number): string => String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");

export const run: Command = {
  name: "run",
  summary: "run jobs, or one kernel with arguments from the command line",
  usage: [
    "run JOB.json… [--variant NAME]",
    "run FILE.ptx… --kernel K --grid SIZE --block SIZE --arg VALUE…",
    "run FILE.visaasm… --zeinfo FILE --kernel K --global SIZE --local SIZE --arg VALUE…",
    "run FILE.visaasm… --input NAME=KIND… --kernel K --global SIZE --local SIZE --arg VALUE…",
  ],
  options: [
    { name: "variant", value: "NAME", help: "run only this variant of each job" },
    { name: "kernel", value: "NAME", help: "the kernel to launch" },
    { name: "grid", value: "X[,Y,Z]", help: "PTX: blocks (default: 1)" },
    { name: "block", value: "X[,Y,Z]", help: "PTX: threads of a block (default: 1)" },
    { name: "shared", value: "BYTES", help: "PTX: dynamic shared memory (default: 0)" },
    { name: "global", value: "X[,Y,Z]", help: "vISA: work items of the launch (default: 1)" },
    { name: "local", value: "X[,Y,Z]", help: "vISA: work items of a group (default: 1)" },
    { name: "zeinfo", value: "FILE", help: "vISA: the section .ze_info of the compiled program, as YAML" },
    { name: "section", value: "NAME=FILE", repeats: true, help: "vISA: another section, as in .data.const=FILE" },
    { name: "symbol", value: "NAME=PLACE", repeats: true, help: "vISA: where a name lies, as in table=.data.const+64" },
    { name: "relocation", value: "PLACE=NAME", repeats: true, help: "vISA: whose address a section holds there" },
    {
      name: "input",
      value: "NAME=KIND",
      repeats: true,
      help: "vISA without .ze_info: what an .input holds (see below)",
    },
    { name: "arg", value: "VALUE", repeats: true, help: "an argument, in the order of the kernel's parameters" },
    { name: "out", value: "N=FILE", repeats: true, help: "save the buffer of argument N (from 0): .npy, .bin, .json" },
    { name: "isa", value: "NAME", help: "ptx or visa, whatever the file's name says" },
  ],
  details: `Arguments:
  42  -1  0xff  1.5        a number of the parameter's own type
  u64:0xff  f32:1e-3       a number of a stated type
  f32[1024]                a buffer of zeros
  f32[1024]=iota           0, 1, 2, ...; also =iota:START, =fill:VALUE, =lcg:SEED
  @x.npy  f32@x.bin        a buffer with the contents of a file
  f32v:1,2,3,4             vISA: a vector by value
  local:1024               vISA: bytes of local memory
Types: u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64

The files of a vISA program are .visaasm, .isaasm or .isa: the kernel first, then the functions that it calls. Its .ze_info, which compilers put into their binaries, says where arguments go. For kernels written by hand, --input says what their inputs hold, in the order of the arguments:
  --input OUT=arg          the next argument, a buffer
  --input N=arg:u32        the next argument, a number
  --input ID=lane-id       the number of each lane's work item
  --input STK=stack:4096   the address of so many bytes of the thread's own

For example, in a clone of Lanewise:
  lanewise run examples/saxpy.ptx --kernel saxpy --block 32 \\
    --arg 20 --arg 2.5 --arg f32[32]=iota --arg f32[32]
  lanewise run examples/saxpy.visaasm --zeinfo examples/saxpy.yaml \\
    --kernel saxpy --global 32 --local 16 \\
    --arg 20 --arg 2.5 --arg f32[32]=iota --arg f32[32]

Exit status: 0 all is well; 1 a check failed or the program has errors; 2 wrong usage, or a file that cannot be read; 3 a kernel faulted, a sanitizer reported, or a limit was reached.`,
  async run(options, terminal) {
    if (options.positionals.length === 0) throw new UsageError("run: no job or program given");
    const jobs = options.positionals.filter((path) => /\.json$/i.test(path));
    if (jobs.length > 0 && jobs.length < options.positionals.length) {
      throw new UsageError("run: give either jobs (.json) or the files of one program");
    }
    const progress = new Progress(terminal);
    const settings = jobOptions(options, progress);
    const json = options.has("json");
    const deviceOptions = { kernelStore: kernelStore(options) };
    const finish = async (planned: PlannedRun): Promise<Finished> => {
      const { job, variant } = planned;
      const { device, files } =
        job.isa === "visa"
          ? await visaParts(planned, deviceOptions)
          : { ...planned, device: new PtxDevice(deviceOptions) };
      progress.begin(`${job.id} ${variant}`.trim());
      const result = new JobRun(device, job, variant, files, settings).run();
      progress.end();
      if (result.defect?.stack) terminal.err(result.defect.stack);
      return { ...planned, result };
    };

    if (jobs.length === 0) {
      const planned = commandJob(options);
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

/** What vISA needs besides: loaded where it does, so that PTX starts faster. */
async function visaParts({ files }: PlannedRun, options: DeviceOptions) {
  const { Device } = await import("../runtime/device.ts");
  const { parseYaml } = await import("./yaml.ts");
  return { device: new Device(options), files: { ...files, yaml: parseYaml } };
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
