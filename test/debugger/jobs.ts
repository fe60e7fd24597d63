import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { launchesOf } from "../../src/debugger/program.ts";
import type { Search } from "../../src/debugger/search.ts";
import { Session, type SessionOptions } from "../../src/debugger/session.ts";
import { Timeline } from "../../src/debugger/timeline.ts";
import type { TimelineOptions } from "../../src/debugger/timeline-options.ts";
import { Device } from "../../src/runtime/device/device.ts";
import { JobRun } from "../../src/runtime/job/job-execution.ts";
import type { JobOptions } from "../../src/runtime/job/job-options.ts";
import { parseJob } from "../../src/runtime/job/job.ts";
import { SourceText } from "../../src/source/index.ts";

const folder = fileURLToPath(new URL("programs", import.meta.url));

/** The path of a job in `test/debugger/programs`, or elsewhere. */
export const pathOf = (name: string): string => (name.includes("/") ? name : join(folder, name));

/** The first or the named variant of a job, on a device of its own. */
function openJob(name: string, options: JobOptions = {}, variant?: string): JobRun {
  const path = pathOf(name);
  const { job, diagnostics } = parseJob(new SourceText(name, readFileSync(path, "utf8")));
  if (job === null) throw new Error(diagnostics[0]?.message);
  const files = { read: (file: string) => readFileSync(join(dirname(path), file)), yaml: parse };
  return new JobRun(new Device(), job, variant ?? [...job.variants.keys()][0]!, files, options);
}

export function openTimeline(name: string, options: TimelineOptions & JobOptions = {}): Timeline {
  const run = openJob(name, options);
  const launches = launchesOf(run);
  return new Timeline(run.device.memory, launches, options);
}

/** Carries out a search without yielding. */
export function finish<T>(search: Search<T>): T {
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
  }
}

export function openSession(name: string, options: SessionOptions & JobOptions = {}): Session {
  const run = openJob(name, options);
  const launches = launchesOf(run);
  return new Session(run.device.memory, launches, options);
}
