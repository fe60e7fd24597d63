import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseJob } from "../../../src/runtime/job/job.ts";
import { runJob } from "../../../src/runtime/job/run-job.ts";
import { SourceText } from "../../../src/source/index.ts";

/** Programs about calls, written independently, with their expected results. They are kept outside the repository. */
const directory = new URL("../../../../shared/visa/hand/", import.meta.url);
const present = existsSync(directory);
if (!present) console.warn(`skipped: there are no hand-written vISA programs at ${directory.pathname}`);
const names = present ? readdirSync(directory).filter((name) => name.endsWith(".json")) : [];

describe.skipIf(!present)("hand-written programs", () => {
  test.each(names)("%s", (name) => {
    const { job, diagnostics } = parseJob(new SourceText(name, readFileSync(new URL(name, directory), "utf8")));
    expect(diagnostics).toEqual([]);
    const files = { read: (path: string) => readFileSync(new URL(path, directory)) };
    for (const sanitize of [null, new Set(["call", "memory", "sync"] as const)]) {
      for (const variant of job!.variants.keys()) {
        const { failure, skipped } = runJob(job!, variant, files, { sanitize });
        expect({ variant, failure, skipped }).toEqual({ variant, failure: null, skipped: null });
      }
    }
  });
});
