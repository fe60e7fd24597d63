import { expect, test } from "vitest";
import { renderReport } from "../../src/cli/terminal/render-report.ts";
import type { Report } from "../../src/machine/reports/report.ts";
import { SourceText } from "../../src/source/index.ts";

const source = new SourceText("k.ptx", "call f;\nld.global.u32 %r1, [%rd1];\n");
const load = { start: 8, end: 34 };

const report: Report = {
  code: "global-out-of-bounds",
  severity: "error",
  message: "load of 4 bytes, 4 bytes after the end of x",
  help: "compare the index with the length",
  kernel: "k",
  source,
  span: load,
  location: { path: "k.cu", line: 7, column: 3 },
  threads: [30, 31].map((x) => ({ block: [0, 0, 0], thread: [x, 0, 0] })),
  count: 2,
  stack: [
    { function: "f", source, span: load },
    { function: "k", source, span: { start: 0, end: 7 } },
  ],
  notes: ["x has 120 bytes"],
};

test("place, threads, higher-level position, callers, notes and help", () => {
  expect(`\n${renderReport(report)}\n`).toBe(`
k.ptx:2:1: error: load of 4 bytes, 4 bytes after the end of x [global-out-of-bounds]
    2 | ld.global.u32 %r1, [%rd1];
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^
      = note: kernel \`k\`, threads 30-31 of block (0,0,0)
      = note: from k.cu:7:3
      = note: called by
                k (k.ptx:1:1)
      = note: x has 120 bytes
      = help: compare the index with the length
`);
});

test("a deep recursion shows only its innermost callers", () => {
  const stack = Array.from({ length: 64 }, () => ({ function: "f", source, span: load }));
  const lines = renderReport({ ...report, stack }).split("\n");
  expect(lines.length).toBeLessThan(25);
  expect(lines.map((line) => line.trim())).toContain("and so on");
});
