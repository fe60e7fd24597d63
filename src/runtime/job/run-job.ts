import { Device } from "../device/device.ts";
import { JobRun } from "./job-execution.ts";
import type { JobOptions } from "./job-options.ts";
import type { JobFiles } from "./job-files.ts";
import type { JobResult } from "./job-result.ts";
import type { Job } from "./job.ts";

export type { JobOptions } from "./job-options.ts";
export type { CheckResult, JobResult } from "./job-result.ts";

export type { JobFiles } from "./job-files.ts";

/** Runs one variant of a job on a fresh device. What goes wrong is in the result; nothing is thrown. */
export const runJob = (job: Job, variant: string, files: JobFiles, options: JobOptions = {}): JobResult =>
  new JobRun(new Device(), job, variant, files, options).run();
