import type { JobRun } from "../runtime/job/job-execution.ts";
import type { LaunchPlan } from "./timeline.ts";

/**
 * The launches of a job as a debugger takes them: in the interpreter, and without a limit of time, which would end them while
 * somebody thinks. Loads the job's program and fills its buffers; throws what is wrong with it.
 */
export const launchesOf = (run: JobRun): readonly LaunchPlan[] =>
  run.open().map(({ kernel, options: { timeoutMs: _, onProgress: __, ...options } }) => (print) => {
    return kernel.begin({ ...options, onOutput: print });
  });
