import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as ptx from "../../src/ptx/index.ts";
import * as visa from "../../src/visa/index.ts";

const folder = new URL("../../editors/vscode/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, folder), "utf8");
const script: string = new URL("../../scripts/grammars.mjs", import.meta.url).href;

interface Pattern {
  readonly name?: string;
  readonly match?: string;
  readonly captures?: Readonly<Record<string, { readonly name: string }>>;
}

test("the grammars are what the instruction tables say", async () => {
  const { grammars } = (await import(script)) as { grammars: (p: object, v: object) => Record<string, string> };
  for (const [name, text] of Object.entries(grammars(ptx, visa))) expect(read(`syntaxes/${name}`), name).toBe(text);
});

/** What the first patterns that match make of a line, from left to right, as editors do. */
function scopes(file: string, line: string): [string, string][] {
  const { patterns } = JSON.parse(read(`syntaxes/${file}`)) as { patterns: readonly Pattern[] };
  const found: [string, string][] = [];
  for (let at = 0; at < line.length; ) {
    let best: { from: RegExpExecArray; pattern: Pattern } | null = null;
    for (const pattern of patterns) {
      if (pattern.match === undefined) continue;
      const regex = new RegExp(pattern.match, "gd");
      regex.lastIndex = at;
      const from = regex.exec(line);
      if (from !== null && from[0] !== "" && (best === null || from.index < best.from.index)) best = { from, pattern };
    }
    if (best === null) break;
    const { from, pattern } = best;
    if (pattern.name !== undefined) found.push([from[0].trim(), pattern.name]);
    for (const [group, { name }] of Object.entries(pattern.captures ?? {})) {
      if (from[Number(group)]) found.push([from[Number(group)]!, name]);
    }
    at = from.index + from[0].length;
  }
  return found;
}

test("lines of PTX and vISA are coloured", () => {
  expect(scopes("ptx.tmLanguage.json", "    @!%p1 mad.wide.u32 %rd1, %tid.x, 4, %rd2; // next")).toEqual([
    ["@!", "keyword.operator.guard"],
    ["%p1", "variable.other.register"],
    ["mad", "keyword.control.instruction"],
    [".wide.u32", "storage.modifier"],
    ["%rd1", "variable.other.register"],
    ["%tid.x", "variable.language"],
    ["4", "constant.numeric"],
    ["%rd2", "variable.other.register"],
    ["// next", "comment.line.double-slash"],
  ]);
  expect(scopes("ptx.tmLanguage.json", ".visible .entry add(.param .u64 out)")).toEqual([
    [".visible", "keyword.other.directive"],
    [".entry", "keyword.other.directive"],
    ["add", "entity.name.function"],
    [".param", "keyword.other.directive"],
    [".u64", "storage.type"],
  ]);
  expect(scopes("visa.tmLanguage.json", "    add (M1_NM, 8) LA(0,0)<1> OUT(0,0)<0;1,0> 0x2:ud")).toEqual([
    ["add", "keyword.control.instruction"],
    ["(M1_NM, 8)", "storage.modifier.mask"],
    ["LA", "variable.other.register"],
    ...["0", "0", "1"].map((n): [string, string] => [n, "constant.numeric"]),
    ["OUT", "variable.other.register"],
    ...["0", "0", "0", "1", "0"].map((n): [string, string] => [n, "constant.numeric"]),
    ["0x2", "constant.numeric"],
    ["ud", "storage.type"],
  ]);
});

test("the manifest names files and options that there are", () => {
  const manifest = JSON.parse(read("package.json")) as {
    main: string;
    contributes: {
      languages: { configuration: string }[];
      grammars: { path: string }[];
      debuggers: {
        configurationAttributes: { launch: { properties: object } };
        configurationSnippets: { body: object }[];
      }[];
    };
  };
  const { languages, grammars, debuggers } = manifest.contributes;
  const files = [manifest.main, ...languages.map((l) => l.configuration), ...grammars.map((g) => g.path)];
  for (const file of files) expect(existsSync(new URL(file, folder)), file).toBe(true);
  const adapter = readFileSync(fileURLToPath(new URL("../../src/cli/dap.ts", import.meta.url)), "utf8");
  const { properties } = debuggers[0]!.configurationAttributes.launch;
  const protocol = readFileSync(
    fileURLToPath(new URL("../../src/debugger/dap/dap-session.ts", import.meta.url)),
    "utf8",
  );
  for (const name of Object.keys(properties)) expect(adapter + protocol, name).toContain(`"${name}"`);
  const known = [...Object.keys(properties), "type", "request", "name"];
  for (const { body } of debuggers[0]!.configurationSnippets) {
    expect(Object.keys(body).filter((name) => !known.includes(name))).toEqual([]);
  }
});
