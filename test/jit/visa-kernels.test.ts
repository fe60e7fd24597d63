import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { SourceText } from "../../src/source/index.ts";

/** OpenCL kernels as a compiler's vISA, with what they compute. They are kept outside the repository. */
const directory = new URL("../../../shared/visa/kernels/", import.meta.url);
const present = existsSync(directory);
if (!present) console.warn(`skipped: there are no kernels at ${directory.pathname}`);
const names = present ? readdirSync(directory).filter((name) => name.endsWith(".json")) : [];

/** One for each width of threads and size of registers. */
const variants = ["skl.simd8", "pvc.simd32", "igc2-bmg.simd16"];

describe.skipIf(!present)("compiled code of kernels", () => {
  test.each(names)("%s", (name) => {
    const { job } = parseJob(new SourceText(name, readFileSync(new URL(name, directory), "utf8")));
    const files = {
      read: (path: string) => readFileSync(new URL(path, directory)),
      yaml: (text: string): unknown => parse(text),
    };
    for (const variant of variants.filter((v) => job!.variants.has(v))) {
      const { failure, engine } = runJob(job!, variant, files, { engine: "jit" });
      expect({ variant, failure, engine }).toEqual({ variant, failure: null, engine: "jit" });
    }
  });
});
