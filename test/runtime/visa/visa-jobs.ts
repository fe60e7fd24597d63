import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { type Job, parseJob } from "../../../src/runtime/job/job.ts";
import type { JobFiles } from "../../../src/runtime/job/run-job.ts";
import { SourceText } from "../../../src/source/index.ts";

const root = fileURLToPath(new URL("../../../../shared/visa", import.meta.url));

/** The folder of the cases, which are not in the repository. */
export const present = existsSync(root);
if (!present) console.warn(`skipped: there are no vISA cases at ${root}`);

export interface VisaJobFile {
  readonly job: Job;
  readonly files: JobFiles;
}

export const visaJobs = (folder: "kernels" | "hand" | "faults"): VisaJobFile[] =>
  !present
    ? []
    : readdirSync(join(root, folder))
        .filter((name) => name.endsWith(".json"))
        .map((name) => {
          const path = join(root, folder, name);
          const { job, diagnostics } = parseJob(new SourceText(name, readFileSync(path, "utf8")));
          if (job === null) throw new Error(`${name}: ${diagnostics[0]?.message}`);
          const read = (file: string): Uint8Array => readFileSync(join(dirname(path), file));
          return { job, files: { read, yaml: (text) => parse(text) } };
        });
