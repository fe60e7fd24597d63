import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { linkVisaFiles } from "../../../src/runtime/visa/check.ts";
import { lineOf } from "./diagnose.ts";
import { edited } from "./programs/program.ts";

/*
 * Programs with one defect each, of a kernel and a function in two files: `slot | code | bad | good`. There is one
 * error, at the defect's line; with `good` in its place there is none. Headings name the manual's page, and its
 * sentence.
 */
const cases = readFileSync(new URL("programs/defects.txt", import.meta.url), "utf8");

const diagnose = (slot: string, statements: string) => {
  const { files, path, line } = edited({ slot, statements });
  const { diagnostics } = linkVisaFiles(files.map(([name, text]) => ({ path: name, text })));
  const found = diagnostics.map((d) => `${d.source.path}:${lineOf(d)} ${d.severity} ${d.code}`);
  return { found, place: `${path}:${line}` };
};

for (const section of cases.split(/^# /m).slice(1)) {
  const [heading, ...rows] = section.trimEnd().split("\n");
  describe(heading!, () => {
    for (const row of rows) {
      const [slot, code, bad, good] = row.split(" | ").map((part) => part.trim()) as [string, string, string, string];
      test(`${slot}: ${bad}`, () => {
        const { found, place } = diagnose(slot, bad);
        expect(found).toEqual([`${place} error ${code}`]);
        expect(diagnose(slot, good).found).toEqual([]);
      });
    }
  });
}
