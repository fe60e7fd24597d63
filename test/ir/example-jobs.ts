import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SourceText } from "../../src/source/index.ts";
import type { JobFile } from "../runtime/conformance-jobs.ts";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));

/** The jobs among the examples. */
export const exampleJobs = (): readonly JobFile[] =>
  ["seeds", "cuda", "."].flatMap((folder) =>
    readdirSync(join(examples, folder))
      .filter((name) => name.endsWith(".json"))
      .map((name): JobFile => {
        const path = join(examples, folder, name);
        return {
          source: new SourceText(name, readFileSync(path, "utf8")),
          read: (file) => readFileSync(join(dirname(path), file)),
        };
      }),
  );
