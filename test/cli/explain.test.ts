import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { catalogues } from "../../src/cli/options/catalogues.ts";
import { hang, wrap } from "../../src/cli/terminal/wrap.ts";
import { checkLinked, checkSource } from "../../src/runtime/device/compile.ts";
import { parseJob } from "../../src/runtime/job/job.ts";
import { SourceText } from "../../src/source/index.ts";
import { allJobFiles } from "../runtime/conformance-jobs.ts";

const pages = catalogues.flatMap(({ codes }) => Object.entries(codes));
const known = new Set(pages.map(([code]) => code));

test.each(pages)("%s has a title and a page", (_code, { title, page }) => {
  expect(title).toMatch(/^[^A-Z\s]/);
  expect(title).not.toMatch(/\.$|\n/);
  expect(page.trim().length).toBeGreaterThan(40);
});

test("no code has two pages", () => {
  const all = catalogues.map(({ codes }) => Object.keys(codes));
  expect(all.flat().length).toBe(new Set(all.flat()).size);
});

/** An example is a job, a module, or several modules that are linked, each under a comment with its name. */
function codesOf(text: string): string[] {
  const [before, ...modules] = text.split(/^\/\/ \w+\.ptx\n/m);
  const { diagnostics } =
    before === ""
      ? { diagnostics: checkLinked(modules.map((module, i) => new SourceText(`${i}.ptx`, module))) }
      : text.startsWith("{")
        ? parseJob(new SourceText("example.json", text))
        : checkSource(new SourceText("example.ptx", text));
  return diagnostics.map((d) => d.code);
}

// The examples for vISA are tested in test/visa.
const examples = pages.flatMap(([code, { example }]) =>
  example && !code.startsWith("visa-") ? [[code, example] as const] : [],
);

test.each(examples)("the example of %s provokes it, and its counterpart does not", (code, { bad, good }) => {
  expect(codesOf(bad)).toContain(code);
  expect(codesOf(good)).toEqual([]);
});

test("every code that is written in the source has a page", () => {
  const root = new URL("../../src/", import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".ts"));
  const used = files.flatMap((file) =>
    [
      ...readFileSync(new URL(file, root), "utf8").matchAll(/(?:\.(?:error|warning)|new Fault)\(\s*"([a-z0-9-]+)"/g),
    ].map(([, code]) => `${file}: ${code}`),
  );
  expect(used.length).toBeGreaterThan(50);
  expect(used.filter((use) => !known.has(use.split(": ")[1]!))).toEqual([]);
});

test("every report that the conformance jobs expect has a page", () => {
  const expected = allJobFiles().flatMap(({ source }) => /"report": "([^"]+)"/.exec(source.text)?.[1] ?? []);
  expect(expected.filter((code) => !known.has(code))).toEqual([]);
});

test("paragraphs are wrapped, indented lines are kept", () => {
  expect(wrap("aa bb cc\n    dd ee ff\n\ngg", 5)).toBe("aa bb\ncc\n    dd ee ff\n\ngg");
  expect(`ab: ${hang("aa bb cc dd", 9, 4)}`).toBe("ab: aa bb\n    cc dd");
});
