import { describe, expect, test } from "vitest";
import {
  type Finding,
  findingOfDiagnostic,
  parseRule,
  parseSuppressions,
  Suppressions,
} from "../../src/reports/index.ts";
import { SourceText } from "../../src/source/index.ts";

const text = `.visible .entry first (.param .u64 p)
{
    bad;
    bad; // lanewise: allow other, data-*
    // lanewise: allow odd
    bad;
}
.func (.param .u32 r) second (.param .u32 p) { bad; }
`;
const source = new SourceText("/home/me/src/a.ptx", text);
const blanks = new SourceText("/home/me/my kernels in work/b #1.ptx", text);

/** A finding at the n-th "bad". */
function finding(code: string, n = 0, within = source): Finding {
  let start = -1;
  for (let i = 0; i <= n; i++) start = text.indexOf("bad", start + 1);
  const span = { start, end: start + 3 };
  return findingOfDiagnostic({ code, severity: "error", message: "bad", source: within, span, notes: [] });
}

test.each([
  ["odd", "odd", true],
  ["odd", "even", false],
  ["odd*", "odd-thing", true],
  ["*", "anything", true],
  ["odd a.ptx", "odd", true],
  ["odd src/a.ptx", "odd", true],
  ["odd c/a.ptx", "odd", false],
  ["odd *.ptx", "odd", true],
  ["odd b.ptx", "odd", false],
  ["odd a.ptx:3", "odd", true],
  ["odd a.ptx:4", "odd", false],
  ["odd a.ptx:1-3", "odd", true],
  ["odd a.ptx:4-9", "odd", false],
  ["odd in first", "odd", true],
  ["odd in f*", "odd", true],
  ["odd in second", "odd", false],
  ["odd a.ptx:3 in first", "odd", true],
])('"%s" and %s at line 3, in first: %s', (rule, code, applies) => {
  expect(parseRule(rule, "--allow").applies(finding(code))).toBe(applies);
});

test.each([
  ['odd "my kernels in work/b #1.ptx"', true],
  ['odd "*kernels in work/*"', true],
  ['odd "my kernels in work/b #1.ptx":3', true],
  ['odd "my kernels in work/b #1.ptx":4-5', false],
  ['odd "b #1.ptx":2-3 in first', true],
  ['odd "kernels in work/b #1.ptx"', false],
])("a path with blanks is quoted: %s: %s", (rule, applies) => {
  expect(parseRule(rule, "--allow").applies(finding("odd", 0, blanks))).toBe(applies);
  const [fromFile] = parseSuppressions(new SourceText("rules", `${rule}  # why "not"\r\n`));
  expect(fromFile?.applies(finding("odd", 0, blanks))).toBe(applies);
});

test("the function of a place is the last one declared above it", () => {
  expect([0, 2, 3].map((n) => finding("x", n).function)).toEqual(["first", "first", "second"]);
});

test.each([
  "",
  "odd a.ptx b.ptx",
  "odd in",
  "odd in a b",
  "odd a.ptx:9-3",
  "odd,even",
  "odd? a",
  'odd "a b',
  'odd "a b" c',
  'odd ""',
])('"%s" is not a rule', (rule) => {
  expect(() => parseRule(rule, "rules.txt:7")).toThrow(/rules\.txt:7.*is not a rule/);
});

test("a file has one rule on each line, and comments", () => {
  const rules = parseSuppressions(new SourceText("rules", "# all\n\nodd a.ptx # known\n  even\n"));
  expect(rules.map(({ code, origin }) => [code, origin])).toEqual([
    ["odd", "rules:3"],
    ["even", "rules:4"],
  ]);
});

describe("comments in a source", () => {
  const find = (code: string, n: number) => new Suppressions([]).find(finding(code, n))?.origin ?? null;

  test("after other text, for the same line", () => {
    expect(find("other", 1)).toBe("/home/me/src/a.ptx:4");
    expect(find("data-race", 1)).toBe("/home/me/src/a.ptx:4");
    expect(find("odd", 1)).toBeNull();
    expect(find("other", 0)).toBeNull();
  });

  test("alone on a line, for the next line", () => {
    expect(find("odd", 2)).toBe("/home/me/src/a.ptx:5");
    expect(find("odd", 0)).toBeNull();
  });
});

describe("comments in the source that the program was compiled from", () => {
  const cuda = new SourceText("a.cu", "first(); // lanewise: allow odd\n// lanewise: allow even\nsecond();\n");
  const at = (line: number) => ({ path: "a.cu", line, column: 1, function: null });
  const compiled = (code: string, ...lines: number[]) => ({ ...finding(code), origin: lines.map(at) as never });
  const find = (of: Finding) =>
    new Suppressions([], (path) => (path === "a.cu" ? cuda : null)).find(of)?.origin ?? null;

  test.each([
    ["odd", [1], "a.cu:1"],
    ["odd", [3], null],
    ["even", [3], "a.cu:2"],
    ["even", [1], null],
    ["even", [7, 3], "a.cu:2"],
  ])("%s on lines %j", (code, lines, origin) => expect(find(compiled(code, ...lines))).toBe(origin));

  test("a file that is not there has none", () => {
    expect(new Suppressions([]).find(compiled("odd", 1))).toBeNull();
  });
});

test("rules for possible codes that have suppressed nothing", () => {
  const suppressions = new Suppressions(["odd", "even", "run-*"].map((rule, i) => parseRule(rule, `rules:${i + 1}`)));
  suppressions.find(finding("even"));
  const unused = suppressions.unused(["odd", "even", "other"]).map(({ origin, code }) => `${origin} ${code}`);
  expect(unused).toEqual(["rules:1 odd", "/home/me/src/a.ptx:4 other", "/home/me/src/a.ptx:5 odd"]);
});

test("rules that can never suppress anything", () => {
  const suppressions = new Suppressions(["odd", "evn", "o*", "x*"].map((rule) => parseRule(rule, "rules")));
  expect(suppressions.impossible(["odd", "even"]).map(({ code }) => code)).toEqual(["evn", "x*"]);
});
