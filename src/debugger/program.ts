import type { JobRun } from "../runtime/job/job-execution.ts";
import type { LaunchStarter } from "./timeline.ts";

/**
 * Returns the launches of a job for a debugger: they run in the interpreter and without a time limit, which would end
 * them while the user thinks. Loads the job's program and fills its buffers.
 *
 * @throws whatever `JobRun.open` throws if the job or its program is invalid
 */
export const launchesOf = (run: JobRun): readonly LaunchStarter[] =>
  run.open().map(({ kernel, copy, options: { timeoutMs: _, onProgress: __, ...options } }) => (print) => {
    copy();
    return kernel.begin({ ...options, onOutput: print });
  });
