import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { sanitizerNames } from "../../src/runtime/launch/launch-options.ts";
import { SourceText } from "../../src/source/index.ts";

// Programs that once went wrong. Each job's note says where its expectation comes from.
const folder = fileURLToPath(new URL(".", import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));

const modes = [
  { name: "plain", options: { sanitize: null } },
  { name: "sanitized", options: { sanitize: new Set(sanitizerNames) } },
  { name: "in another order", options: { sanitize: null, seed: 5 } },
];

describe.each(names)("%s", (name) => {
  const { job } = parseJob(new SourceText(name, readFileSync(folder + name, "utf8")));
  const files = { read: (path: string) => readFileSync(folder + path) };
  test.each(modes)("$name", ({ options }) => {
    for (const variant of job!.variants.keys()) {
      // A job that expects a report gets the sanitizers that it needs.
      const sanitize = job!.expect ? new Set(sanitizerNames) : options.sanitize;
      const result = runJob(job!, variant, files, { timeoutMs: 10_000, ...options, sanitize });
      expect(result.failure).toBe(null);
      if (!job!.expect) expect(result.reports).toEqual([]);
    }
  });
});
