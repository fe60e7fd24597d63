import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { engineNames } from "../../src/runtime/launch/launch-options.ts";
import { SourceText } from "../../src/source/index.ts";

/*
 * Kernels as Triton 3.8 writes them, for three targets, with results from torch and numpy. They are not in the
 * repository.
 */
const root = fileURLToPath(new URL("../../../shared/triton", import.meta.url));
const present = existsSync(root);
if (!present) console.warn(`skipped: there are no kernels of Triton at ${root}`);

/** What jobs require and is modelled; the other requirements are matrices, asynchronous copies and their barriers. */
const modelled: ReadonlySet<string> = new Set(["link", "vprintf"]);

const jobs = !present
  ? []
  : readdirSync(root)
      .filter((name) => name.endsWith(".json"))
      .map((name) => ({ name, text: readFileSync(join(root, name), "utf8") }))
      .filter(({ text }) => (JSON.parse(text) as { requires: string[] }).requires.every((r) => modelled.has(r)));

describe.skipIf(!present)("Triton", () => {
  test("jobs were found", () => expect(jobs.length).toBeGreaterThan(15));

  test.each(jobs)(
    "$name",
    ({ name, text }) => {
      const job = parseJob(new SourceText(name, text)).job!;
      const read = (path: string) => readFileSync(join(root, path));
      const results = [...job.variants.keys()].flatMap((variant) =>
        engineNames.map((engine) => {
          const { ok, failure, launches } = runJob(job, variant, { read }, { engine });
          return { variant, engine, ok, failure, ran: launches.map((l) => l.engine) };
        }),
      );
      for (const result of results) {
        expect(result).toMatchObject({ ok: true, failure: null });
        expect(result.ran).toEqual(job.launches.map(() => result.engine));
      }
    },
    300_000,
  );
});
