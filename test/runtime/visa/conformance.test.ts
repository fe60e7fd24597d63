import { describe, expect, test } from "vitest";
import type { SanitizerName } from "../../../src/machine/launch.ts";
import { runJob } from "../../../src/runtime/job/run-job.ts";
import { sanitizerNames } from "../../../src/runtime/launch/launch-options.ts";
import { present, type VisaJobFile, visaJobs } from "./visa-jobs.ts";

interface Row {
  readonly job: string;
  readonly why: string;
}

/**
 * Dumps in which the compiler's code is wrong, so that no machine gets the results of their source. Both come of a
 * SIMD-32 kernel that handles its halves one after the other.
 */
const miscompiled: Readonly<Record<string, string>> = {
  // The first call of `helper_1` is for both halves, and the addresses of the upper half are written after it.
  "visa/k05_noinline skl.simd32": "null-dereference at line 165",
  // Bits 16 to 31 of the lanes that are still to be called for are never cleared: only the lower half is compared.
  "visa/k07_fptr skl.simd32": "no-progress at line 189",
};

/** The sanitizers that find these, as far as there are any. */
const finders: Readonly<Record<string, SanitizerName>> = { "uninitialized-read": "init", "data-race": "race" };

/**
 * The kernel reads what other work items write: `helper(q[i], 3.0f, q + 8)` loads q[8] to q[11], and work items 8 to 11
 * store there. No machine orders them.
 */
const racy = "visa/k05_noinline";

function reported({ job, files }: VisaJobFile): Row[] {
  return [...job.variants.keys()].flatMap((variant) => {
    const title = `${job.id} ${variant}`;
    if (title in miscompiled) return [];
    const { failure } = runJob(job, variant, files, { maxSteps: 20_000_000, sanitize: new Set(sanitizerNames) });
    const isExpected = job.id === racy ? failure?.startsWith("data-race at ") : failure === null;
    return isExpected === true ? [] : [{ job: title, why: failure ?? "passed" }];
  });
}

function failures({ job, files }: VisaJobFile): Row[] {
  const finder = finders[job.expect?.report ?? ""];
  if (finder && !sanitizerNames.includes(finder)) {
    console.warn(`skipped: ${job.id} needs the ${finder} sanitizer`);
    return [];
  }
  return [...job.variants.keys()].flatMap((variant) => {
    const { failure } = runJob(job, variant, files, { maxSteps: 20_000_000 });
    const expected = miscompiled[`${job.id} ${variant}`] ?? null;
    return failure === expected ? [] : [{ job: `${job.id} ${variant}`, why: failure ?? "passed" }];
  });
}

/** Each test runs some of the jobs, so that the runner can show how far it is. */
const chunks = (files: readonly VisaJobFile[], perTest: number) =>
  Array.from({ length: Math.ceil(files.length / perTest) }, (_, i) => {
    const chunk = files.slice(i * perTest, (i + 1) * perTest);
    return { chunk, name: chunk.map(({ job }) => job.id).join(" ") };
  });

describe.skipIf(!present)("conformance", () => {
  test.each([...chunks(visaJobs("kernels"), 2), ...chunks(visaJobs("hand"), 8), ...chunks(visaJobs("faults"), 8)])(
    "$name",
    ({ chunk }) => expect(chunk.flatMap(failures)).toEqual([]),
    120_000,
  );

  test.each([...chunks(visaJobs("kernels"), 4), ...chunks(visaJobs("hand"), 8)])(
    "no sanitizer objects to $name",
    ({ chunk }) => expect(chunk.flatMap(reported)).toEqual([]),
    120_000,
  );
});
