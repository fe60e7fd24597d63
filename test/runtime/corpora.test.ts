import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { sanitizerNames, usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { SourceText } from "../../src/source/index.ts";
import { jsonFiles } from "./json-files.ts";

/*
 * Jobs that are not in the repository: `modern` has matrices, asynchronous copies, barriers in memory, clusters and
 * textures, with results from models in numpy; `triton` has kernels as Triton 3.8 writes them, for three targets, with
 * results from torch and numpy. Each variant of each job is executed by both engines, and watched by all sanitizers:
 * where asynchronous operations take effect at once, and where a seed lets them be as late as the waits allow.
 */
const modern = ["cluster", "faults", "matrix", "mbarrier", "tcgen05", "texture", "tma", "wgmma"];
const folders = [...modern.map((name) => `modern/${name}`), "triton"];

const rootOf = (folder: string) => fileURLToPath(new URL(`../../../shared/${folder}`, import.meta.url));

/** Races that are there, by job: threads load a flag that the first of them, which has loaded it, may have set already. */
const races = new Map([["triton/layernorm_backward", "data-race at line 267"]]);

const seeds = [null, 1];

/** What sanitizers say of a job that passes, and what goes wrong while they watch. */
function objections(folder: string, name: string, text: string, read: (path: string) => Uint8Array) {
  const job = parseJob(new SourceText(`${folder}/${name}`, text)).job!;
  return [...job.variants.keys()].flatMap((variant) =>
    seeds.flatMap((seed) => {
      const { failure } = runJob(job, variant, { read }, { sanitize: new Set(sanitizerNames), seed });
      return failure === (races.get(job.id) ?? null) ? [] : [`${variant}, seed ${seed}: ${failure}`];
    }),
  );
}

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

  test.each(folder === "modern/faults" ? [] : jobs)(
    "no sanitizer objects to $name",
    ({ name, text, read }) => expect(objections(folder, name, text, read)).toEqual([]),
    600_000,
  );
});
