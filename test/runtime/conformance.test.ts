import { describe, expect, test } from "vitest";
import type { SanitizerName } from "../../src/machine/launch.ts";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { sanitizerNames } from "../../src/runtime/launch/launch-options.ts";
import { type JobFile, jobFiles, present } from "./conformance-jobs.ts";

/** Each test runs some of the jobs, so that the runner can show progress. */
const perTest = 8;

interface Row {
  readonly job: string;
  readonly why: string;
}

/** The sanitizer that finds each of these reports. */
const finders: Readonly<Record<string, SanitizerName>> = { "uninitialized-read": "init", "data-race": "race" };

function failures({ source, ...files }: JobFile, sanitize: ReadonlySet<SanitizerName> | null): Row[] {
  const job = parseJob(source).job!;
  const finder = finders[job.expect?.report ?? ""];
  if (finder && !sanitizerNames.includes(finder)) {
    console.warn(`skipped: ${job.id} needs the ${finder} sanitizer`);
    return [];
  }
  return [...job.variants.keys()].flatMap((variant) => {
    const { ok, failure } = runJob(job, variant, files, { timeoutMs: 60_000, sanitize });
    return ok ? [] : [{ job: `${job.id} ${variant}`, why: failure ?? "" }];
  });
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / perTest) }, (_, i) =>
    items.slice(i * perTest, (i + 1) * perTest),
  );
}

const named = (files: readonly JobFile[]) =>
  chunks(files).map((chunk) => ({ chunk, name: chunk.map((f) => f.source.path.replace(".json", "")).join(" ") }));

describe.skipIf(!present)("conformance", () => {
  test.each([...named(jobFiles("cuda")), ...named(jobFiles("hand")), ...named(jobFiles("faults"))])(
    "$name",
    ({ chunk }) => expect(chunk.flatMap((file) => failures(file, null))).toEqual([]),
    300_000,
  );

  test.each([...named(jobFiles("cuda")), ...named(jobFiles("hand"))])(
    "no sanitizer objects to $name",
    ({ chunk }) => expect(chunk.flatMap((file) => failures(file, new Set(sanitizerNames)))).toEqual([]),
    300_000,
  );
});
