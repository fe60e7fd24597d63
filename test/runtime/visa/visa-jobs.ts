import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { type Job, parseJob } from "../../../src/runtime/job/job.ts";
import type { JobFiles } from "../../../src/runtime/job/run-job.ts";
import { SourceText } from "../../../src/source/index.ts";
import { jsonFiles } from "../json-files.ts";

const root = fileURLToPath(new URL("../../../../shared/visa", import.meta.url));

/** The folder of the cases, which are not in the repository. */
export const present = existsSync(root);
if (!present) console.warn(`skipped: there are no vISA cases at ${root}`);

export interface VisaJobFile {
  readonly name: string;
  readonly job: Job;
  readonly files: JobFiles;
}

export const visaJobs = (folder: "kernels" | "hand" | "faults"): VisaJobFile[] =>
  !present
    ? []
    : jsonFiles(join(root, folder)).map(({ name, text, read }) => {
        const { job, diagnostics } = parseJob(new SourceText(name, text));
        if (job === null) throw new Error(`${name}: ${diagnostics[0]?.message}`);
        return { name, job, files: { read, yaml: (yaml) => parse(yaml) } };
      });
