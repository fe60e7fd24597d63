import { describe, expect, test } from "vitest";
import {
  colorStyle,
  type Diagnostic,
  diagnosticToJson,
  fileToJson,
  renderDiagnostic,
  renderFrame,
  SourceText,
  type Span,
} from "../../src/source/index.ts";

/** Makes a source text whose span is the part between `«` and `»`; the marks themselves are removed. */
function marked(text: string): { source: SourceText; span: Span } {
  const start = text.indexOf("«");
  const end = text.indexOf("»") - 1;
  return { source: new SourceText("a.ptx", text.replace(/[«»]/g, "")), span: { start, end } };
}

/** Reads a frame independently of how it was made: returns the text above the carets, column by column. */
function underlined([line = "", marks = ""]: readonly string[]): string {
  const columns = [...line].flatMap((c) => (/[\u3000-\u9fff\u{1f300}-\u{1faff}]/u.test(c) ? [c, ""] : [c]));
  const from = marks.search(/[\^-]/);
  const to = from + /[\^-]+/.exec(marks)![0].length;
  return columns.slice(from, to).join("");
}

const diagnostic = (text: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
  code: "unknown-modifier",
  severity: "error",
  message: "`.sat` is not available for `add.u32`",
  notes: [],
  ...marked(text),
  ...more,
});

describe("frames", () => {
  test.each([
    ["a plain span", "one\n  add«.sat».u32 a;\n", ".sat"],
    ["the whole line", "«ret;»", "ret;"],
    ["tabs before and inside", "\t\tadd.«u32\ta»;", "u32 a"],
    ["wide text before it", "// 漢字 «here» more", "here"],
    ["wide text inside", "// «漢字» x", "漢字"],
    ["emoji before it", "// 🚀🚀 «x» y", "x"],
    ["carriage returns", "first\r\n  «bra» L;\r\n", "bra"],
  ])("%s", (_name, text, under) => {
    const { source, span } = marked(text);
    expect(underlined(renderFrame(source, span))).toBe(under);
  });

  test("a combining mark takes no column", () => {
    const { source, span } = marked("// e\u0301 «x»");
    expect(renderFrame(source, span)[1]).toBe("      |      ^");
  });

  test("an empty span is marked with one caret, even at the end of the text", () => {
    expect(renderFrame(...at("mov «»a;"))[1]).toBe("      |     ^");
    expect(renderFrame(...at("ret«»"))[1]).toBe("      |    ^");
    expect(renderFrame(...at("ret;\n«»"))).toEqual(["    2 |", "      | ^"]);
  });

  test("a span over several lines is marked up to the end of the first", () => {
    expect(renderFrame(...at("a {«x\n y\n z»}"))).toEqual(["    1 | a {x", "      |    ^ to line 3"]);
  });

  test("control characters cannot reach the terminal", () => {
    const frame = renderFrame(...at("// \x1b[2J «x»\u202e\x07\x9b\x7f"));
    expect(frame[0]).toBe("    1 | // ␛[2J x\ufffd␇\ufffd␡");
    expect(underlined(frame)).toBe("x");
  });

  test.each([0, 50, 5_000, 99_990])("a long line is cut around offset %i", (offset) => {
    const line = "a".repeat(offset) + "XYZ" + "b".repeat(100_000 - offset);
    const frame = renderFrame(new SourceText("a", line), { start: offset, end: offset + 3 }, { width: 80 });
    expect(underlined(frame)).toBe("XYZ");
    expect(frame[0]!.length).toBeLessThanOrEqual(80);
    expect(frame[1]!.length).toBeLessThanOrEqual(80);
    expect(frame[0]!.startsWith("    1 | …")).toBe(offset > 0);
  });

  test("of a span longer than the screen the beginning is shown", () => {
    const frame = renderFrame(new SourceText("a", "x".repeat(500)), { start: 200, end: 480 }, { width: 60 });
    expect(frame[0]!.length).toBe(60);
    expect(frame[1]).toMatch(/^ {6}\| {2}\^+$/);
  });

  test("every span of a hostile text gives a frame of two lines", () => {
    const text = "\t漢\u0301\ud800🚀\x1b\n\r\n\t\t" + "é漢".repeat(80);
    for (let start = 0; start <= text.length + 2; start++) {
      for (const length of [-3, 0, 1, 7, 400]) {
        const frame = renderFrame(new SourceText("a", text), { start, end: start + length }, { width: 40 });
        expect(frame).toHaveLength(2);
        expect(frame[1]).toMatch(/\^/);
      }
    }
  });
});

function at(text: string): [SourceText, Span] {
  const { source, span } = marked(text);
  return [source, span];
}

describe("diagnostics", () => {
  test("place, severity, message, code, frame, help and notes", () => {
    const d = diagnostic("\nadd«.sat».u32 %r1, %r2, 4;", { help: "`add.sat.s32` takes it\nand so does `sub.sat.s32`" });
    const other = marked(".reg .u32 «%r1»;");
    const rendered = renderDiagnostic({
      ...d,
      notes: [{ message: "declared here", ...other }, { message: "the manual says so in 9.7.1.1" }],
    });
    expect(`\n${rendered}\n`).toBe(`
a.ptx:2:4: error: \`.sat\` is not available for \`add.u32\` [unknown-modifier]
    2 | add.sat.u32 %r1, %r2, 4;
      |    ^^^^
      = help: \`add.sat.s32\` takes it
              and so does \`sub.sat.s32\`
a.ptx:1:11: note: declared here
    1 | .reg .u32 %r1;
      |           ---
      = note: the manual says so in 9.7.1.1
`);
  });

  test("colouring only adds escape sequences", () => {
    const d = diagnostic("add«.sat».u32 a;", { help: "h", notes: [{ message: "n" }] });
    const colored = renderDiagnostic(d, { style: colorStyle });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for escape sequences
    const bare = colored.replace(/\x1b\[[\d;]*m/g, "");
    expect(bare).toBe(renderDiagnostic(d));
    expect(bare).not.toBe(colored);
  });

  test("a message that quotes control characters is made safe", () => {
    expect(renderDiagnostic(diagnostic("«x»", { message: "no `\x1b[31m` here" }))).toContain("no `␛[31m` here");
  });

  test("lines and columns in JSON count from 1", () => {
    const d = diagnostic("\nadd«.sat».u32 a;", { notes: [{ message: "n" }] });
    const json = {
      code: "unknown-modifier",
      severity: "error",
      message: "`.sat` is not available for `add.u32`",
      range: { start: { line: 2, column: 4 }, end: { line: 2, column: 8 } },
      notes: [{ message: "n" }],
    };
    expect(diagnosticToJson(d)).toEqual(json);
    expect(fileToJson(d.source, [d])).toEqual({ path: "a.ptx", ok: false, diagnostics: [json] });
    expect(fileToJson(d.source, [{ ...d, severity: "warning" }]).ok).toBe(true);
  });

  test("a note about another file names it in JSON", () => {
    const note = { message: "n", source: new SourceText("b.ptx", "x"), span: { start: 0, end: 1 } };
    expect(diagnosticToJson(diagnostic("«x»", { notes: [note] })).notes[0]).toEqual({
      message: "n",
      path: "b.ptx",
      range: { start: { line: 1, column: 1 }, end: { line: 1, column: 2 } },
    });
  });
});
