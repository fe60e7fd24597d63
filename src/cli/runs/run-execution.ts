import { openCompilerBeside } from "../../node/native/open-compiler-beside.ts";
import { openKernelFolder } from "../../node/open-kernel-folder.ts";
import type { DeviceOptions } from "../../runtime/device/device-core.ts";
import { PtxDevice } from "../../runtime/device/ptx-device.ts";
import type { KernelStore, NativeCompiler } from "../../runtime/index.ts";
import { JobRun } from "../../runtime/job/job-execution.ts";
import type { JobFiles } from "../../runtime/job/job-files.ts";
import type { JobOptions } from "../../runtime/job/job-options.ts";
import type { JobResult } from "../../runtime/job/job-result.ts";
import type { Job } from "../../runtime/job/job.ts";
import type { Report } from "../../machine/reports/report.ts";
import { renderOriginatedPlace } from "../../source/index.ts";
import type { Options } from "../options/options.ts";
import type { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Interrupted, interruptible } from "./interruption.ts";
import type { PlannedRun } from "./run-plan.ts";
import { defaultEngine } from "./run-settings.ts";

/** A run that has ended, whether successfully or not, or has been ended. */
export interface Finished extends PlannedRun {
  readonly result: JobResult;
  /** Whether Ctrl-C has ended it. */
  readonly isInterrupted: boolean;
}

/** The folder that keeps compiled kernels, or null with `--no-cache`. */
export function kernelStore(options: Options, terminal: Terminal): KernelStore | null {
  const path = options.value("cache");
  const onRefused = (why: string): void =>
    terminal.err(`lanewise: compiled kernels are not kept: ${why} (\`chmod go-w\`, or --cache another folder)`);
  return options.has("no-cache") ? null : openKernelFolder(path === null ? { onRefused } : { path, onRefused });
}

/** What makes machine code of kernels; null where the engine that is asked for needs none. */
export async function nativeCompiler(options: Options, store: KernelStore | null): Promise<NativeCompiler | null> {
  const engine = options.value("engine") ?? defaultEngine;
  if (engine === "tiered") return openCompilerBeside(store);
  if (engine !== "native") return null;
  // The translator is much code, which few runs need.
  const { openNativeCompiler } = await import("../../node/native/index.ts");
  return openNativeCompiler({ store });
}

interface Execution {
  readonly progress: Progress;
  readonly terminal: Terminal;
  readonly device?: DeviceOptions;
}

/** Performs a run on a fresh device, showing its progress. */
export async function executeRun(planned: PlannedRun, settings: JobOptions, execution: Execution): Promise<Finished> {
  const { progress, terminal } = execution;
  progress.begin(`${planned.job.id} ${planned.variant}`.trim());
  const onReport = (report: Report): void => progress.note(`found ${brieflyReported(report, terminal)}`);
  const finished = await runQuietly(planned, { ...settings, onReport }, execution.device);
  progress.end();
  if (finished.result.defect?.stack) terminal.err(finished.result.defect.stack);
  return finished;
}

const brieflyReported = (report: Report, terminal: Terminal): string =>
  `${renderOriginatedPlace(report, terminal)}: ${report.severity}: ${report.message} [${report.code}]`;

/** Performs a run on a fresh device. */
async function runQuietly(planned: PlannedRun, settings: JobOptions, on?: DeviceOptions): Promise<Finished> {
  const run = await openRun(planned, settings, on);
  try {
    return { ...planned, result: await interruptible(() => run.run()), isInterrupted: false };
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    return { ...planned, result: run.interrupted(), isInterrupted: true };
  }
}

/** Prepares a run on a fresh device, without loading its program. */
export async function openRun(planned: PlannedRun, settings: JobOptions, on?: DeviceOptions): Promise<JobRun> {
  return (await runOpener(planned, on))(settings);
}

/** Loads what reads PNG files, if a job names some. */
async function pictureReader({ buffers }: Job): Promise<Pick<JobFiles, "picture">> {
  const isNamed = [...buffers.values()].some(({ init }) => init.gen === "file" && /\.png$/i.test(init.path));
  if (!isNamed) return {};
  const { readPng } = await import("../terminal/png.ts");
  return { picture: readPng };
}

/** Loads what runs need, once; the result prepares a run on a fresh device each time, without loading its program. */
export async function runOpener(planned: PlannedRun, on?: DeviceOptions): Promise<(settings: JobOptions) => JobRun> {
  const { job, variant } = planned;
  const files = { ...planned.files, ...(await pictureReader(job)) };
  if (job.isa !== "visa") return (settings) => new JobRun(new PtxDevice(on), job, variant, files, settings);
  // On demand, so that PTX starts faster.
  const { Device } = await import("../../runtime/device/device.ts");
  const { parseYaml } = await import("../terminal/yaml.ts");
  return (settings) => new JobRun(new Device(on), job, variant, { ...files, yaml: parseYaml }, settings);
}
