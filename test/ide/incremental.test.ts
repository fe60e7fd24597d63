import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type TextEdit, Workspace } from "../../src/ide/index.ts";
import { checkPtx, parsePtx } from "../../src/ptx/index.ts";
import { SourceText } from "../../src/source/index.ts";

/*
 * After any edits the findings are those of `lanewise check`, and everything else is as if the text had just been
 * opened. The programs are the examples, put together to modules of several functions; the edits are random, with fixed
 * seeds: cuts, copies, single characters, pieces that change much (comments, braces, quotes, directives), and undoing.
 */

const folders = ["examples/", "examples/bugs/", "examples/seeds/", "test/ptx/text/cases/"];
const programs = folders.flatMap((folder) => {
  const root = new URL(`../../${folder}`, import.meta.url);
  return readdirSync(root)
    .filter((name) => name.endsWith(".ptx"))
    .map((name) => readFileSync(new URL(name, root), "utf8"));
});

/** One module out of several files, so that there are functions enough for parts to matter. */
function moduleOf(seed: number): string {
  const pick = (i: number): string => programs[(seed * 7 + i * 13) % programs.length]!;
  const bodies = [0, 1, 2, 3].map((i) => pick(i).replace(/^\s*\.(version|target|address_size)\b.*$/gm, ""));
  return `.version 8.0\n.target sm_90\n.address_size 64\n${bodies.join("\n")}`;
}

const pieces = [
  "",
  "{",
  "}",
  "/*",
  "*/",
  "//",
  '"',
  ";",
  "\n",
  ".func f();\n",
  ".func (.param .b32 r) f(.param .b32 x);\n",
  ".visible .entry g() { ret; }\n",
  ".global .u32 shared_name;\n",
  ".reg .b32 %new;",
  "call f;",
  "\ufeff",
  ".version 7.0\n",
  ".target sm_75\n",
  ".target sm_11\n",
  ".version 1.4\n",
  ".target sm_90, texmode_independent\n",
  ".func p(.param .align 8 .b8 x[2 * WARP_SZ]);\n",
  ".visible .entry s(.param .samplerref x) { ret; }\n",
  ".global .u32 WARP_SZ;\n",
  "#",
  "@@DWARF x\n",
  "é",
  '.file 1 "a.cu"\n',
  ".loc 1 2 3\n",
  "nothing: bra nowhere;",
  ".alias a, f;\n",
];

/** Random numbers below a bound, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return (Math.imul(state ^ (state >>> 13), 0x297a2d39) >>> 8) % below;
  };
}

const shown = (workspace: Workspace, uri: string) => ({
  findings: workspace.diagnostics(uri),
  symbols: workspace.symbols(uri),
  tokens: workspace.semanticTokens(uri),
  folds: workspace.foldingRanges(uri),
  hints: workspace.inlayHints(uri),
});

/** What `lanewise check` finds. */
function checked(text: string) {
  const { tree, diagnostics } = parsePtx(new SourceText("a", text));
  return [...diagnostics, ...checkPtx(tree).diagnostics]
    .sort((a, b) => a.span.start - b.span.start)
    .map(({ span, code, message, help, notes }) => ({
      ...span,
      code,
      message,
      help: help ?? null,
      notes: notes.map((note) => ({
        message: note.message,
        place: note.span ? { uri: "a", ...pick(note.span) } : null,
      })),
    }));
}

const pick = ({ start, end }: { readonly start: number; readonly end: number }) => ({ start, end });

const seeds = Number(process.env["IDE_SEEDS"] ?? 12);

test.each(Array.from({ length: seeds }, (_, seed) => seed))("edits of module %i", (seed) => {
  const next = random(seed + Number(process.env["IDE_FIRST"] ?? 0));
  let text = moduleOf(seed);
  const workspace = new Workspace();
  workspace.openDocument("a", text, "ptx");
  let undo: TextEdit | null = null;
  for (let round = 0; round < 25; round++) {
    let start = next(text.length + 1);
    let end = Math.min(text.length, start + [0, 0, 1, 3, 40, 400][next(6)]!);
    const from = next(text.length + 1);
    let piece = next(5) === 0 ? text.slice(from, from + next(600)) : pieces[next(pieces.length)]!;
    if (undo !== null && next(3) === 0) ({ start, end, text: piece } = undo);
    undo = { start, end: start + piece.length, text: text.slice(start, end) };
    workspace.update("a", [{ start, end, text: piece }]);
    text = text.slice(0, start) + piece + text.slice(end);
    const what = `after replacing ${start} to ${end} by ${JSON.stringify(piece)}, round ${round}`;
    expect(workspace.text("a"), what).toBe(text);
    const fresh = new Workspace();
    fresh.openDocument("a", text, "ptx");
    expect(shown(workspace, "a"), what).toEqual(shown(fresh, "a"));
    const found = workspace.diagnostics("a").map(({ severity: _, ...rest }) => rest);
    expect(sorted(found), what).toEqual(sorted(checked(text)));
    const page = { start: 0, end: text.length };
    if (round % 2 === 0) while (workspace.prepare("a", page));
    const offset = next(text.length + 1);
    expect(workspace.hover("a", offset), what).toEqual(fresh.hover("a", offset));
    expect(workspace.completions("a", offset), what).toEqual(fresh.completions("a", offset));
    expect(workspace.references("a", offset), what).toEqual(fresh.references("a", offset));
  }
});

test("the functions of a page are analysed one by one, and after an edit only those that it changes", () => {
  // Functions that are shorter than 512 characters are parsed together with others.
  const long = "/".repeat(512);
  const entry = (name: string): string =>
    `.visible .entry ${name}() { .reg .u32 %r1; mov.u32 %r1, %tid.x; add.u32 %r1, %r1, 1; ret; } ${long}\n`;
  const header = `.version 8.0\n.target sm_90\n.address_size 64 ${long}\n`;
  const text = header + ["a", "b", "c"].map(entry).join("");
  const workspace = new Workspace();
  workspace.openDocument("a", text, "ptx");
  const page = { start: text.indexOf("a()"), end: text.indexOf("b()") };
  const rounds = (): number => {
    let count = 0;
    while (workspace.prepare("a", page)) count++;
    return count;
  };
  expect(rounds()).toBe(2);
  expect(rounds()).toBe(0);
  const register = text.indexOf("%r1, %r1");
  expect(workspace.hover("a", register)?.text).toMatch(/^Grows by 1 from lane to lane/m);
  // In `a` itself; before it; in `c`, which is not on the page.
  workspace.update("a", [{ start: register + 9, end: register + 9, text: " " }]);
  expect(rounds()).toBe(1);
  workspace.update("a", [{ start: 0, end: 0, text: "\n" }]);
  expect(rounds()).toBe(0);
  const ofC = text.indexOf("mov", text.indexOf("c()")) + 1;
  workspace.update("a", [{ start: ofC, end: ofC, text: " " }]);
  expect(rounds()).toBe(0);
  expect(workspace.hover("a", register + 1)?.text).toMatch(/^Grows by 1 from lane to lane/m);
  // The target is a matter of all functions.
  const target = workspace.text("a").indexOf("sm_90");
  workspace.update("a", [{ start: target, end: target + 5, text: "sm_80" }]);
  expect(rounds()).toBe(2);
  expect(workspace.prepare("b", page)).toBe(false);
});

test("nothing is known of the registers of a function without instructions", () => {
  const text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f(.reg .u32 %x) { }\n";
  const workspace = new Workspace();
  workspace.openDocument("a", text, "ptx");
  expect(workspace.hover("a", text.indexOf("%x"))?.text).toBe("```ptx\n.reg .u32 %x\n```\n\nNot read.");
  while (workspace.prepare("a", { start: 0, end: text.length }));
});

test("comments fold if they fill several lines, however the text has come about", () => {
  const before = ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 a;\n// alone\n.global .u32 b;\n";
  const [one, two, three] = ["// one\n", "// two\n", "/* three */"];
  const text = `${before}${one}${two}${three}\n.global .u32 c; // alone, too\n.global .u32 d;\n`;
  const fold = { start: before.length, end: before.length + (one + two + three).length, kind: "comment" };
  const workspace = new Workspace();
  workspace.openDocument("a", text.replace(one + two, "").replace("alone", ".func f();"), "ptx");
  const at = before.length - "alone".length + ".func f();".length;
  workspace.update("a", [{ start: at, end: at, text: one }]);
  workspace.update("a", [{ start: at + one.length, end: at + one.length, text: two }]);
  const from = text.indexOf("alone");
  workspace.update("a", [{ start: from, end: from + ".func f();".length, text: "alone" }]);
  expect(workspace.text("a")).toBe(text);
  expect(workspace.foldingRanges("a")).toEqual([fold]);
});

/** Findings at one place, in an order of their own. */
const sorted = <T extends { readonly start: number; readonly code: string; readonly message: string }>(
  found: T[],
): T[] => found.sort((a, b) => a.start - b.start || (a.code + a.message < b.code + b.message ? -1 : 1));

test("what is wrong with a call table is said at its first use, whichever body is checked again", () => {
  const body = "{ .reg .u32 r; ld.global.u32 r, [t]; call (r), r, (r), t; ret; }";
  const entries = ["a", "b"].map((name) => `.visible .entry ${name}() ${body} ${"/".repeat(512)}\n`);
  const text = `.version 8.0\n.target sm_90\n.address_size 64\n.global .u32 t[1] = { nothing };\n${entries.join("")}`;
  const workspace = new Workspace();
  workspace.openDocument("a", text, "ptx");
  const found = (): readonly number[] =>
    workspace.diagnostics("a").flatMap(({ code, start }) => (code === "call-list" ? [start] : []));
  const [first, second] = [text.indexOf("t; ret"), text.lastIndexOf("t; ret")];
  expect(found()).toEqual([first]);
  workspace.update("a", [{ start: second, end: second + 1, text: "t" }]);
  expect(found()).toEqual([first]);
  workspace.update("a", [{ start: first, end: first + 1, text: "u" }]);
  // The first call names nothing now.
  expect(found()).toEqual([second]);
});
