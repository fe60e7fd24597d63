import { openKernelFolder } from "../node/index.ts";
import type { KernelStore } from "../runtime/index.ts";
import { type JobOptions, type JobResult, JobRun } from "../runtime/job-run.ts";
import { type DeviceOptions, PtxDevice } from "../runtime/ptx-device.ts";
import type { Options } from "./options.ts";
import type { Progress } from "./progress.ts";
import type { PlannedRun } from "./run-plan.ts";
import type { Terminal } from "./terminal.ts";

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

/** Runs on a fresh device. */
export async function executeRun(planned: PlannedRun, settings: JobOptions, execution: Execution): Promise<Finished> {
  const { job, variant } = planned;
  const { progress, terminal } = execution;
  const { device, files } =
    job.isa === "visa"
      ? await visaParts(planned, execution.device)
      : { ...planned, device: new PtxDevice(execution.device) };
  progress.begin(`${job.id} ${variant}`.trim());
  const result = new JobRun(device, job, variant, files, settings).run();
  progress.end();
  if (result.defect?.stack) terminal.err(result.defect.stack);
  return { ...planned, result };
}

/** What vISA needs besides: loaded where it does, so that PTX starts faster. */
async function visaParts({ files }: PlannedRun, options: DeviceOptions | undefined) {
  const { Device } = await import("../runtime/device.ts");
  const { parseYaml } = await import("./yaml.ts");
  return { device: new Device(options), files: { ...files, yaml: parseYaml } };
}
