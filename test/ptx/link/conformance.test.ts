import { describe, expect, test } from "vitest";
import { linkToText } from "../../../src/runtime/index.ts";
import { parseJob } from "../../../src/runtime/job/job.ts";
import { runJob } from "../../../src/runtime/job/run-job.ts";
import { SourceText } from "../../../src/source/index.ts";
import { jobFiles, present } from "../../runtime/conformance-jobs.ts";
import { lines } from "./linked.ts";
import { objections } from "./ptxas.ts";

/** Jobs of one or more files, linked into one module. The tests of the runtime run them unlinked. */
const jobs = [...jobFiles("hand"), ...jobFiles("cuda")].flatMap((files) => {
  const job = parseJob(files.source).job!;
  const several = [...job.variants].filter(([, paths]) => paths.length > 1);
  return several.map(([variant, paths]) => ({ name: `${job.id} ${variant}`, files, job, variant, paths }));
});

describe.skipIf(!present)("conformance programs as one module", () => {
  test.each(jobs)("$name", ({ files, job, paths }) => {
    const sources = paths.map((path) => new SourceText(path, new TextDecoder().decode(files.read(path))));
    const { text, diagnostics } = linkToText(sources);
    expect(lines(diagnostics)).toEqual([]);
    expect(objections(text!)).toBe("");
    const variants = new Map([["linked", ["linked.ptx"]]]);
    const read = (path: string): Uint8Array =>
      path === "linked.ptx" ? new TextEncoder().encode(text!) : files.read(path);
    expect(runJob({ ...job, variants }, "linked", { read }).failure).toBeNull();
  });
});
