import { Device } from "./device.ts";
import type { Job } from "./job.ts";
import { type JobFiles, type JobOptions, type JobResult, JobRun } from "./job-run.ts";

export type { CheckResult, JobFiles, JobOptions, JobResult } from "./job-run.ts";

/** Runs one variant of a job. What goes wrong is in the result; nothing is thrown. */
export const runJob = (job: Job, variant: string, files: JobFiles, options: JobOptions = {}): JobResult =>
  new JobRun(new Device(), job, variant, files, options).run();
