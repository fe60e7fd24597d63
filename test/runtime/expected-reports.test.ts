import { expect, test } from "vitest";
import { unexpectedReports } from "../../src/runtime/job/expected-report.ts";
import { SourceText } from "../../src/source/index.ts";
import type { Report } from "../../src/machine/reports/report.ts";

const source = new SourceText("a.ptx", "one\ntwo\nthree\n");

const report = (code: string, line: number): Report => {
  const start =
    source.text
      .split("\n")
      .slice(0, line - 1)
      .join("\n").length + (line > 1 ? 1 : 0);
  return { code, source, span: { start, end: start + 1 } } as unknown as Report;
};

const wanted = { report: "trap", file: null, line: 3, also: ["deadlock"] };

test.each([
  ["the report", [report("trap", 3)]],
  ["others before it", [report("data-race", 1), report("trap", 3)]],
  ["another that is right", [report("deadlock", 2)]],
])("%s is right", (_, found) => expect(unexpectedReports(wanted, null, found)).toBe(null));

test.each([
  ["nothing", [], "expected trap at line 3, but nothing was reported"],
  ["another line", [report("trap", 2)], "expected trap at line 3, but it reported trap at line 2"],
  [
    "another end",
    [report("trap", 3), report("exit", 1)],
    "expected trap at line 3, but it reported trap at line 3, exit at line 1",
  ],
])("%s is not", (_, found, message) => expect(unexpectedReports(wanted, null, found)).toBe(message));

test("the file counts if it is given", () => {
  expect(unexpectedReports({ ...wanted, file: "b.ptx" }, "b.ptx", [report("trap", 3)])).toContain("b.ptx, line 3");
  expect(unexpectedReports({ ...wanted, file: "a.ptx" }, "a.ptx", [report("trap", 3)])).toBe(null);
});
