import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { printLinked } from "../../../src/ptx/link/print.ts";
import { parseJob } from "../../../src/runtime/job/job.ts";
import { type JobResult, runJob } from "../../../src/runtime/job/run-job.ts";
import { SourceText } from "../../../src/source/index.ts";
import { linked } from "./linked.ts";
import { objections } from "./ptxas.ts";

/*
 * Programs of several files, `a.ptx`, `b.ptx` and so on. `// error: code`, `// warning: code` and `// report: code` at
 * the end of a line are the expected findings; there must be no others. Programs with a `job.json` are run twice, as
 * they are and linked into one module, with the same results.
 */
const folder = new URL("cases/", import.meta.url);

const marks = (file: string, text: string, pattern: RegExp): string[] =>
  text.split("\n").flatMap((line, i) => {
    const mark = pattern.exec(line);
    return mark ? [`${file}:${i + 1} ${mark[1]}`] : [];
  });

const run = (job: object, read: (path: string) => string): JobResult => {
  const parsed = parseJob(new SourceText("job.json", JSON.stringify(job))).job!;
  const [variant] = parsed.variants.keys();
  return runJob(parsed, variant!, { read: (path) => new TextEncoder().encode(read(path)) });
};

describe("programs of several files", () => {
  for (const name of readdirSync(folder)) {
    const files = readdirSync(new URL(`${name}/`, folder));
    const read = (file: string): string => readFileSync(new URL(`${name}/${file}`, folder), "utf8");
    const modules = files.filter((file) => file.endsWith(".ptx"));

    test(`${name} has the expected diagnostics`, () => {
      const wanted = modules.flatMap((file) => marks(file, read(file), /\/\/ ((?:error|warning): [\w-]+)$/));
      const found = linked(modules.map(read)).diagnostics.map(
        (d) => `${d.source.path}:${d.source.position(d.span.start).line} ${d.severity}: ${d.code}`,
      );
      expect(found.sort()).toEqual(wanted.sort());
    });

    if (!files.includes("job.json")) continue;
    const job = JSON.parse(read("job.json"));
    const wanted = modules.flatMap((file) => marks(file, read(file), /\/\/ report: ([\w-]+)$/));
    const reports = (result: JobResult): string[] =>
      result.reports.map((r) => `${r.source.path}:${r.source.position(r.span.start).line} ${r.code}`);

    test(`${name} runs`, () => {
      const result = run(job, read);
      expect(result.failure).toBeNull();
      expect(reports(result)).toEqual(wanted);
    });

    test(`${name} runs as one module`, () => {
      const text = printLinked(linked(modules.map(read)));
      expect(objections(text)).toBe("");
      const line = text.split("\n").findIndex((l) => l.includes("// report: ")) + 1;
      const expected = job.expect && { expect: { ...job.expect, line } };
      const result = run({ ...job, ...expected, variants: { linked: ["linked.ptx"] } }, () => text);
      expect(result.failure).toBeNull();
      expect(reports(result).length).toBe(wanted.length);
    });
  }
});
