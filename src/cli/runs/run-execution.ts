import { openKernelFolder } from "../../node/index.ts";
import type { DeviceOptions } from "../../runtime/device/device-core.ts";
import { PtxDevice } from "../../runtime/device/ptx-device.ts";
import type { KernelStore } from "../../runtime/index.ts";
import { type JobOptions, JobRun } from "../../runtime/job/job-execution.ts";
import type { JobResult } from "../../runtime/job/job-result.ts";
import type { Options } from "../options/options.ts";
import type { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { PlannedRun } from "./run-plan.ts";

/** A run that has ended, whether successfully or not. */
export interface Finished extends PlannedRun {
  readonly result: JobResult;
}

/** The folder that keeps compiled kernels, or null with `--no-cache`. */
export function kernelStore(options: Options): KernelStore | null {
  const path = options.value("cache");
  return options.has("no-cache") ? null : openKernelFolder(path === null ? {} : { path });
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
  const finished = await runQuietly(planned, settings, execution.device);
  progress.end();
  if (finished.result.defect?.stack) terminal.err(finished.result.defect.stack);
  return finished;
}

/** Performs a run on a fresh device. */
export async function runQuietly(planned: PlannedRun, settings: JobOptions, on?: DeviceOptions): Promise<Finished> {
  return { ...planned, result: (await openRun(planned, settings, on)).run() };
}

/** Prepares a run on a fresh device, without loading its program. */
export async function openRun(planned: PlannedRun, settings: JobOptions, on?: DeviceOptions): Promise<JobRun> {
  const { job, variant } = planned;
  const { device, files } =
    job.isa === "visa" ? await visaParts(planned, on) : { ...planned, device: new PtxDevice(on) };
  return new JobRun(device, job, variant, files, settings);
}

/** The device and the file access for vISA, loaded on demand so that PTX starts faster. */
async function visaParts({ files }: PlannedRun, options: DeviceOptions | undefined) {
  const { Device } = await import("../../runtime/device/device.ts");
  const { parseYaml } = await import("../terminal/yaml.ts");
  return { device: new Device(options), files: { ...files, yaml: parseYaml } };
}
