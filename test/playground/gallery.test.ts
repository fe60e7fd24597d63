import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseJob, runJob, SourceText } from "../../src/index.ts";
import { gallery, lineWith, root } from "./gallery-files.ts";

// The examples of the playground as data; `playground.test.ts` opens them in the page.

test("there are 25 examples, in an order in which one may learn", () => {
  expect(gallery).toHaveLength(25);
  expect(new Set(gallery.map(({ id }) => id)).size).toBe(25);
});

/** The reports that an example is about, without a sanitizer. */
const expected: Readonly<Record<string, readonly string[]>> = {
  "wrong-prototype": ["indirect-call-prototype-mismatch"],
};

describe.each(gallery)("$id", ({ id, job, jobText, files, tour }) => {
  test("runs, with the results that its job expects", () => {
    const parsed = parseJob(new SourceText(job, jobText));
    expect(parsed.diagnostics).toEqual([]);
    const read = (path: string): Uint8Array => readFileSync(join(root, dirname(job), path));
    const [variant] = parsed.job!.variants.keys();
    const result = runJob(parsed.job!, variant!, { read });
    expect(result.diagnostics).toEqual([]);
    expect(result.reports.map(({ code }) => code)).toEqual(expected[id] ?? []);
    expect(result.checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  test("its tour has 5 to 8 steps, which speak of lines that exist", () => {
    expect(tour.length).toBeGreaterThanOrEqual(5);
    expect(tour.length).toBeLessThanOrEqual(8);
    const text = files[0]!.text;
    for (const { lines = [], at } of tour) {
      for (const part of [...lines, ...(at ? [at.line] : [])]) expect(lineWith(text, part), part).toBeGreaterThan(0);
    }
  });
});
