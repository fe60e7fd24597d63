import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseJob, runJob } from "../../src/runtime/index.ts";
import { usualEngines } from "../../src/runtime/launch/launch-options.ts";
import { SourceText } from "../../src/source/index.ts";

/*
 * Textures and surfaces of compiled programs, with whole expected buffers that come from an independent model, and two
 * that must end with a report.
 */

const root = fileURLToPath(new URL("../../../shared/modern", import.meta.url));
const texture = join(root, "texture");
const jobs = existsSync(texture)
  ? [
      ...readdirSync(texture)
        .filter((name) => name.endsWith(".json"))
        .map((name) => join(texture, name)),
      ...["surface_trap", "texture_garbage_handle"].map((name) => join(root, "faults", `${name}.json`)),
    ]
  : [];

test.skipIf(jobs.length > 0)("the cases are not here: ../shared is missing", () => {});

for (const path of jobs) {
  for (const engine of usualEngines) {
    test(`${path.slice(root.length + 1)} (${engine})`, () => {
      const { job, diagnostics } = parseJob(new SourceText(path, readFileSync(path, "utf8")));
      expect(diagnostics).toEqual([]);
      for (const variant of job!.variants.keys()) {
        const read = (file: string): Uint8Array => readFileSync(join(dirname(path), file));
        const { failure, problem, defect } = runJob(job!, variant, { read }, { engine });
        expect({ variant, failure, problem, defect }).toEqual({ variant, failure: null, problem: null, defect: null });
      }
    });
  }
}
