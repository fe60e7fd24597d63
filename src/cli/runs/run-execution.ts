import { openKernelFolder } from "../../node/index.ts";
import type { DeviceOptions } from "../../runtime/device/device-core.ts";
import { PtxDevice } from "../../runtime/device/ptx-device.ts";
import type { KernelStore } from "../../runtime/index.ts";
import { type JobOptions, type JobResult, JobRun } from "../../runtime/job/job-execution.ts";
import type { Options } from "../options/options.ts";
import type { Progress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { PlannedRun } from "./run-plan.ts";

/** A run that has come to its end, whatever that was. */
export interface Finished extends PlannedRun {
  readonly result: JobResult;
}

/** Where compiled kernels are kept. */
export function kernelStore(options: Options): KernelStore | null {
  const path = options.value("cache");
  return options.has("no-cache") ? null : openKernelFolder(path === null ? {} : { path });
}

interface Execution {
  readonly progress: Progress;
  readonly terminal: Terminal;
  readonly device?: DeviceOptions;
}

/** Runs on a fresh device, and shows how far it is. */
export async function executeRun(planned: PlannedRun, settings: JobOptions, execution: Execution): Promise<Finished> {
  const { progress, terminal } = execution;
  progress.begin(`${planned.job.id} ${planned.variant}`.trim());
  const finished = await runQuietly(planned, settings, execution.device);
  progress.end();
  if (finished.result.defect?.stack) terminal.err(finished.result.defect.stack);
  return finished;
}

/** Runs on a fresh device. */
export async function runQuietly(planned: PlannedRun, settings: JobOptions, on?: DeviceOptions): Promise<Finished> {
  return { ...planned, result: (await openRun(planned, settings, on)).run() };
}

/** A run on a fresh device, before its program is loaded. */
export async function openRun(planned: PlannedRun, settings: JobOptions, on?: DeviceOptions): Promise<JobRun> {
  const { job, variant } = planned;
  const { device, files } =
    job.isa === "visa" ? await visaParts(planned, on) : { ...planned, device: new PtxDevice(on) };
  return new JobRun(device, job, variant, files, settings);
}

/** What vISA needs besides: loaded where it does, so that PTX starts faster. */
async function visaParts({ files }: PlannedRun, options: DeviceOptions | undefined) {
  const { Device } = await import("../../runtime/device/device.ts");
  const { parseYaml } = await import("../terminal/yaml.ts");
  return { device: new Device(options), files: { ...files, yaml: parseYaml } };
}
