import { describe, expect, test } from "vitest";
import type { JobResult } from "../../src/runtime/job/job-result.ts";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import type { EngineName } from "../../src/runtime/launch/launch-options.ts";
import { type JobFile, jobFiles, present } from "../runtime/conformance-jobs.ts";

const nobody: ReadonlySet<never> = new Set();

const run = ({ source, ...files }: JobFile, variant: string, engine: EngineName): JobResult =>
  runJob(parseJob(source).job!, variant, files, { engine, sanitize: nobody, maxSteps: null });

const variantsOf = ({ source }: JobFile): string[] => [...parseJob(source).job!.variants.keys()];

/** What an engine has found out about a program that is wrong. */
const findings = ({ reports }: JobResult) =>
  reports.map(({ code, message, source, span, threads, count }) => ({
    code,
    message,
    line: source.position(span.start).line,
    threads,
    count,
  }));

/** Faults that end a kernel by themselves, without a sanitizer. */
const endless = new Set(["no-progress"]);

describe.skipIf(!present)("compiled code", () => {
  test.each(["cuda", "hand"] as const)("passes the jobs of %s", (folder) => {
    let compiled = 0;
    const failed = jobFiles(folder).flatMap((file) =>
      variantsOf(file).flatMap((variant) => {
        const { ok, failure, engine } = run(file, variant, "jit");
        if (engine === "jit") compiled++;
        return ok ? [] : [`${file.source.path} ${variant}: ${failure}`];
      }),
    );
    expect(failed).toEqual([]);
    expect(compiled).toBeGreaterThan(0);
  });

  test("finds what the interpreter finds without sanitizers", () => {
    const differences = jobFiles("faults").flatMap((file) => {
      const { expect: expected } = parseJob(file.source).job!;
      if (endless.has(expected?.report ?? "")) return [];
      return variantsOf(file).flatMap((variant) => {
        const [want, got] = [run(file, variant, "interpreter"), run(file, variant, "jit")].map(findings);
        return JSON.stringify(want) === JSON.stringify(got) ? [] : [{ file: file.source.path, want, got }];
      });
    });
    expect(differences).toEqual([]);
  });
});
