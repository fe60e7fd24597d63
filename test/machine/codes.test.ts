import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { reportCodes } from "../../src/machine/reports/codes.ts";
import type { CodePage } from "../../src/source/index.ts";

const pages: Readonly<Record<string, CodePage>> = reportCodes;

/** The names that the conformance jobs rely on. */
const promised =
  "barrier-bad-count barrier-divergence brx-index-out-of-range const-out-of-bounds data-race deadlock divergent-uni division-by-zero " +
  "global-out-of-bounds indirect-call-bad-address indirect-call-not-in-calltargets indirect-call-null " +
  "indirect-call-prototype-mismatch local-out-of-bounds misaligned-access no-progress noreturn-returned null-dereference " +
  "param-out-of-bounds shared-out-of-bounds shfl-inactive-source stack-overflow sync-mask-excludes-self uninitialized-read " +
  "wrong-state-space";

test.each(promised.split(" "))("%s has a page", (code) => {
  expect(pages[code]).toBeDefined();
});

describe("pages", () => {
  test.each(Object.entries(pages))("%s", (_, { title, page }) => {
    expect(title).toMatch(/^[^A-Z].*[^.]$/);
    expect(page.length).toBeGreaterThan(60);
    expect(page).toMatch(/\.$/);
  });
});

test("every code that a room of the machine can report has a page", () => {
  const raised = ["machine", "program", "interpreter", "sanitizers"].flatMap((room) => {
    const folder = new URL(`../../src/${room}/`, import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    return files.flatMap((file) =>
      [
        ...readFileSync(new URL(file, folder), "utf8").matchAll(
          /(?:Fault\((?:\s*call,)?|fault\(\w*,? ?|report\(\{?[^";]*?|code: )\s*"([a-z-]+)"/g,
        ),
      ].map((m) => m[1]!),
    );
  });
  expect(raised.length).toBeGreaterThan(15);
  expect(raised.filter((code) => !(code in pages) && code !== "error")).toEqual([]);
});
