import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { reportCodes } from "../../src/machine/reports/codes.ts";
import { checkSource } from "../../src/runtime/device/compile.ts";
import { type CodePage, SourceText } from "../../src/source/index.ts";

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

/** Asynchronous copies, mbarriers and clusters, products of matrices, tensor memory: their mistakes need an example. */
const needsExample = /^9\.7\.(9\.2[3-8]|13\.(3|15)|14|15|16)\b/;
const unfamiliar = Object.entries(pages).filter(([, { section }]) => needsExample.test(section ?? ""));

/** What the checker says of an instruction by itself, whatever its operands are. */
const spelling =
  /^(ptx-|unknown-(instruction|modifier)|(missing|invalid)-modifier|modifier-order|operand-count|immediate)/;

describe("pages with an example of PTX", () => {
  test.each(unfamiliar)("%s", (_, { page }) => {
    const examples = [...page.matchAll(/(?:Wrong|Right) is `([^`]*;)`/g)].map(([, code]) => code!);
    expect(page).toMatch(/Right is /);
    for (const code of examples.filter((code) => !code.includes("..."))) {
      const text = `.version 9.0\n.target sm_100a\n.address_size 64\n.func f() { ${code} }\n`;
      const { diagnostics } = checkSource(new SourceText("example.ptx", text));
      expect(diagnostics.filter((d) => spelling.test(d.code)).map((d) => d.message)).toEqual([]);
    }
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
