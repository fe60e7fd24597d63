import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseJob } from "../../src/runtime/job/job.ts";
import { runJob } from "../../src/runtime/job/run-job.ts";
import { sanitizerNames } from "../../src/runtime/launch/launch-options.ts";
import { SourceText } from "../../src/source/index.ts";
import { routineTexts } from "../visa/run/program.ts";
import { routineJob } from "../visa/run/routine-job.ts";

/*
 * Kernels of 16 lanes in the words of `../visa/run/program.ts`, each after `==== title`, with all sanitizers: `//
 * report: code` at the end of a line expects that report there, and nothing else may be reported. `// items: N of M`
 * gives the work items of the launch and of a group, 32 of 32 if it is not there: two hardware threads.
 */
const folder = new URL("visa/", import.meta.url);
const width = 16;
const encoder = new TextEncoder();

function reportsOf(kernel: string, items: number, group: number): { found: string[]; wanted: string[] } {
  const declarations = (kernel.match(/^\.decl .*$/gm) ?? []).join("\n");
  const program = { title: "", widths: [width], kernel: kernel.replace(/^\.decl .*$/gm, ""), declarations } as const;
  const [{ text } = { text: "" }] = routineTexts({ ...program, expected: () => 0 }, width);
  const job = routineJob({ id: "k", platform: "SKL", width, modules: ["k.visaasm"], items, group });
  const parsed = parseJob(new SourceText("job.json", job));
  const options = { maxSteps: 200_000, sanitize: new Set(sanitizerNames) };
  const { reports, failure } = runJob(parsed.job!, "skl.simd16", { read: () => encoder.encode(text) }, options);
  const lines = text.split("\n");
  if (failure !== null && reports.length === 0) throw new Error(failure);
  return {
    found: reports.map((r) => `${lines[r.source.position(r.span.start).line - 1]!.trim()} ${r.code}`).sort(),
    wanted: lines
      .flatMap((line) => {
        const [, code] = /\/\/ report: ([\w-]+)$/.exec(line) ?? [];
        return code === undefined ? [] : [`${line.trim()} ${code}`];
      })
      .sort(),
  };
}

describe.each(readdirSync(folder))("%s", (file) => {
  const [, ...cases] = readFileSync(new URL(file, folder), "utf8").split(/^==== /m);
  test.each(cases.map((c) => [c.slice(0, c.indexOf("\n")), c.slice(c.indexOf("\n") + 1)] as const))("%s", (_, body) => {
    const [, items = "32", group = "32"] = /^\/\/ items: (\d+) of (\d+)$/m.exec(body) ?? [];
    const { found, wanted } = reportsOf(body.replace(/^\/\/.*$/gm, ""), Number(items), Number(group));
    expect(found).toEqual(wanted);
  });
});
