import type { Log } from "sarif";
import { describe, expect, test } from "vitest";
import type { Report } from "../../src/machine/reports/report.ts";
import { findingOfDiagnostic, findingOfReport, type Judged, parseRule, sarifLog } from "../../src/reports/index.ts";
import { type Diagnostic, SourceText } from "../../src/source/index.ts";

const source = new SourceText("./src/a b.ptx", ".entry k ()\n{\n    ld.global.u32 %r1, [%rd1];\n    call f;\n}\n");
const load = { start: 18, end: 43 };

const diagnostic: Diagnostic = {
  code: "unknown-register",
  severity: "warning",
  message: "there is no register %r1",
  help: "declare it",
  source,
  span: load,
  notes: [{ message: "here", span: { start: 0, end: 6 } }, { message: "just a remark" }],
};

const report: Report = {
  code: "data-race",
  severity: "error",
  message: "a race",
  kernel: "k",
  source,
  span: load,
  location: { path: "k.cu", line: 7, column: 3 },
  threads: [{ block: [0, 0, 0], thread: [1, 0, 0] }],
  count: 9,
  stack: [
    { function: "f", source: new SourceText("/lib/f.ptx", "ret;"), span: { start: 0, end: 3 } },
    { function: "k", source, span: { start: 48, end: 54 } },
  ],
  notes: ["x has 120 bytes"],
  related: [
    {
      message: "the other access",
      source,
      span: { start: 48, end: 54 },
      thread: { block: [0, 0, 0], thread: [2, 0, 0] },
    },
  ],
};

const judged: Judged[] = [
  { finding: findingOfDiagnostic(diagnostic), suppression: parseRule("unknown-*", "rules.txt:3") },
  { finding: findingOfReport(report), suppression: null },
];
const pages: Record<string, { title: string; page: string }> = { "data-race": { title: "two threads", page: "Long." } };

/** The type annotation is a test in itself: these types come from the schema of the format. */
const log: Log = sarifLog(judged, { version: "1.2.3", page: (code) => pages[code], completed: true });
const [run] = log.runs;

test("a log of version 2.1.0, with its rules", () => {
  expect(log.version).toBe("2.1.0");
  expect(run!.tool.driver).toEqual({
    name: "Lanewise",
    semanticVersion: "1.2.3",
    rules: [
      {
        id: "data-race",
        shortDescription: { text: "two threads" },
        fullDescription: { text: "Long." },
        help: { text: "Long." },
      },
      { id: "unknown-register" },
    ],
  });
  expect(run!.columnKind).toBe("utf16CodeUnits");
  expect(run!.invocations).toEqual([{ executionSuccessful: true }]);
});

test("results name their rules, in the order in which they were found", () => {
  expect(run!.results!.map(({ ruleId, ruleIndex, level }) => [ruleId, ruleIndex, level])).toEqual([
    ["unknown-register", 1, "warning"],
    ["data-race", 0, "error"],
  ]);
  for (const { ruleId, ruleIndex } of run!.results!) expect(run!.tool.driver.rules![ruleIndex!]!.id).toBe(ruleId);
});

test("places: lines and columns from 1, the end after the last column; relative addresses, escaped", () => {
  const { physicalLocation, logicalLocations } = run!.results![0]!.locations![0]!;
  expect(physicalLocation).toEqual({
    artifactLocation: { uri: "src/a%20b.ptx" },
    region: { startLine: 3, startColumn: 5, endLine: 3, endColumn: 30 },
  });
  expect(logicalLocations).toEqual([{ name: "k", kind: "function" }]);
});

test("a message is a sentence with the help; notes are related locations", () => {
  const [first] = run!.results!;
  expect(first!.message.text).toBe("There is no register %r1. Declare it.");
  expect(first!.relatedLocations!.map((l) => [l.id, l.message!.text, l.physicalLocation?.region?.startLine])).toEqual([
    [0, "here", 1],
    [1, "just a remark", undefined],
  ]);
});

test("the other access of a race is a related location", () => {
  const [, race] = run!.results!;
  expect(race!.relatedLocations!.map((l) => [l.message!.text, l.physicalLocation?.region?.startLine])).toEqual([
    ["x has 120 bytes", undefined],
    ["the other access", 4],
  ]);
});

test("a suppressed finding says what suppresses it", () => {
  expect(run!.results![0]!.suppressions).toEqual([{ kind: "external", justification: "rules.txt:3" }]);
  expect(run!.results![1]!.suppressions).toBeUndefined();
});

test("a report's call stack, kernel and threads", () => {
  const [, second] = run!.results!;
  expect(
    second!.stacks![0]!.frames.map((f) => [
      f.location!.logicalLocations![0]!.name,
      f.location!.physicalLocation!.artifactLocation!.uri,
    ]),
  ).toEqual([
    ["f", "file:///lib/f.ptx"],
    ["k", "src/a%20b.ptx"],
  ]);
  expect(second!.properties).toMatchObject({ kernel: "k", count: 9, origin: { path: "k.cu", line: 7 } });
});

describe("fingerprints", () => {
  const fingerprint = (d: Diagnostic): string => {
    const found = sarifLog([{ finding: findingOfDiagnostic(d), suppression: null }], {
      version: "1",
      page: () => undefined,
      completed: true,
    });
    return found.runs[0]!.results[0]!.partialFingerprints["lanewise/v1"];
  };

  test("stay when lines above change, and differ by code and text", () => {
    const moved = new SourceText(source.path, source.text.replace("{", "{\n\n"));
    const same = { ...diagnostic, source: moved, span: { start: load.start + 2, end: load.end + 2 } };
    expect(fingerprint(same)).toBe(fingerprint(diagnostic));
    expect(fingerprint({ ...diagnostic, code: "other" })).not.toBe(fingerprint(diagnostic));
    expect(fingerprint({ ...diagnostic, span: { start: 48, end: 54 } })).not.toBe(fingerprint(diagnostic));
  });
});

/** What the schema of the format requires beyond types: https://docs.oasis-open.org/sarif/sarif/v2.1.0. */
test("every object is as sarif-schema-2.1.0 requires", () => {
  const problems: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value))
      value.forEach((v, i) => {
        visit(v, `${path}[${i}]`);
      });
    else if (typeof value === "object" && value !== null) {
      for (const [name, v] of Object.entries(value)) {
        const at = `${path}.${name}`;
        if (v === undefined || v === null) problems.push(`${at} is ${v}`);
        if (/^(start|end)(Line|Column)$/.test(name) && !(Number.isInteger(v) && (v as number) >= 1)) problems.push(at);
        if (/^(ruleIndex|id)$/.test(name) && typeof v === "number" && v < 0) problems.push(at);
        if (name === "message" && typeof (v as { text?: unknown }).text !== "string") problems.push(at);
        if (name === "uri" && !/^[\w%.~/:@!$&'()*+,;=-]+$/.test(String(v))) problems.push(at);
        if (name !== "properties") visit(v, at);
      }
    }
  };
  visit(JSON.parse(JSON.stringify(log)), "log");
  expect(problems).toEqual([]);
});
