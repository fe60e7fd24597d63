import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { SourceText } from "../../src/source/index.ts";
import { jsonFiles } from "./json-files.ts";

/*
 * Jobs that are not in the repository: `modern` has matrices, asynchronous copies, barriers in memory, clusters and
 * textures, with results from models in numpy; `triton` has kernels as Triton 3.8 writes them, for three targets, with
 * results from torch and numpy. Each variant of each job is executed by both engines.
 */
const modern = ["cluster", "faults", "matrix", "mbarrier", "tcgen05", "texture", "tma", "wgmma"];
const folders = [...modern.map((name) => `modern/${name}`), "triton"];

const rootOf = (folder: string) => fileURLToPath(new URL(`../../../shared/${folder}`, import.meta.url));

/** What went wrong, by variant and engine. */
function outcomes(folder: string, name: string, text: string, read: (path: string) => Uint8Array) {
  const { job, diagnostics } = parseJob(new SourceText(`${folder}/${name}`, text));
  if (job === null) return [diagnostics[0]!.message];
  // A fault may be for the sanitizers, which watch in the interpreter, whatever engine comes first.
  if (job.expect?.report !== undefined)
    return [...job.variants.keys()].flatMap((variant) => runJob(job, variant, { read }).failure ?? []);
  return [...job.variants.keys()].flatMap((variant) =>
    usualEngines.flatMap((engine) => {
      const { ok, failure, skipped, launches } = runJob(job, variant, { read }, { engine });
      const other = launches.filter((l) => l.engine !== engine).length;
      if (ok && other === 0) return [];
      return [`${variant}, ${engine}: ${skipped ?? failure ?? `${other} launches in the other engine`}`];
    }),
  );
}

describe.each(folders)("%s", (folder) => {
  const root = rootOf(folder);
  const present = existsSync(root);
  if (!present) console.warn(`skipped: there are no jobs at ${root}`);
  const jobs = present ? jsonFiles(root) : [];

  test.skipIf(!present)("jobs were found", () => expect(jobs.length).toBeGreaterThan(0));

  test.each(jobs)("$name", ({ name, text, read }) => expect(outcomes(folder, name, text, read)).toEqual([]), 600_000);
});
