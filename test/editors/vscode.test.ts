import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";
import { Workspace } from "../../src/ide/index.ts";
import * as ptx from "../../src/ptx/index.ts";
import * as visa from "../../src/visa/index.ts";

const folder = new URL("../../editors/vscode/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, folder), "utf8");
const script: string = new URL("../../scripts/grammars.mjs", import.meta.url).href;

test("the grammars are what the instruction tables say", async () => {
  const { grammars } = (await import(script)) as { grammars: (p: object, v: object) => Record<string, string> };
  for (const [name, text] of Object.entries(grammars(ptx, visa))) expect(read(`syntaxes/${name}`), name).toBe(text);
});

/** The grammars in the engine that editors have. */
async function grammarOf(isa: "ptx" | "visa"): Promise<textmate.IGrammar> {
  const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
  await (loaded ??= oniguruma.loadWASM(readFileSync(wasm)));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(read(`syntaxes/${isa}.tmLanguage.json`), `${isa}.json`),
  });
  return (await registry.loadGrammar(`source.${isa}`))!;
}
let loaded: Promise<void> | null = null;

/** The words of a text with their scopes, those of punctuation left out. */
function scopes(grammar: textmate.IGrammar, text: string): [string, string][] {
  let state = textmate.INITIAL;
  return text.split(/\r?\n/).flatMap((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens.flatMap(({ startIndex, endIndex, scopes: all }): [string, string][] => {
      const word = line.slice(startIndex, endIndex).trim();
      return word === "" || all.at(-1)!.startsWith("punctuation") ? [] : [[word, all.at(-1)!]];
    });
  });
}

test("lines of PTX and vISA are coloured", async () => {
  const [ofPtx, ofVisa] = [await grammarOf("ptx"), await grammarOf("visa")];
  expect(scopes(ofPtx, "    @!%p1 mad.wide.u32 %rd1, %tid.x, 4, %rd2; // next")).toEqual([
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
  expect(scopes(ofPtx, ".visible .entry add(.param .u64 out)")).toEqual([
    [".visible", "keyword.other.directive"],
    [".entry", "keyword.other.directive"],
    ["add", "entity.name.function"],
    [".param", "keyword.other.directive"],
    [".u64", "storage.type"],
    ["out", "variable.other"],
  ]);
  expect(scopes(ofPtx, ".func (.reg .b32 %r) twice (.reg .b32 %x)")).toContainEqual(["twice", "entity.name.function"]);
  expect(scopes(ofPtx, "call (%r), twice, (%x);")).toEqual([
    ["call", "keyword.control.instruction"],
    ["%r", "variable.other.register"],
    ["twice", "entity.name.function"],
    ["%x", "variable.other.register"],
  ]);
  expect(scopes(ofPtx, "call.uni (%r), %f, (%x), proto;")).toContainEqual(["%f", "variable.other.register"]);
  expect(scopes(ofPtx, "call.uni hook;")).toContainEqual(["hook", "entity.name.function"]);
  expect(scopes(ofVisa, "    add (M1_NM, 8) LA(0,0)<1> OUT(0,0)<0;1,0> 0x2:ud")).toEqual([
    ["add", "keyword.control.instruction"],
    ["(M1_NM, 8)", "storage.modifier.mask"],
    ["LA", "variable.other.register"],
    ...["0", "0"].map((n): [string, string] => [n, "constant.numeric"]),
    ["<", "keyword.operator"],
    ["1", "constant.numeric"],
    [">", "keyword.operator"],
    ["OUT", "variable.other.register"],
    ...["0", "0"].map((n): [string, string] => [n, "constant.numeric"]),
    ["<", "keyword.operator"],
    ...["0", "1", "0"].map((n): [string, string] => [n, "constant.numeric"]),
    [">", "keyword.operator"],
    ["0x2", "constant.numeric"],
    ["ud", "storage.type"],
  ]);
});

/** Programs of the repository, and the conformance programs where they are. */
function programs(ending: string): string[] {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const folders = [
    "examples",
    "test",
    "../shared/conformance/hand",
    "../shared/conformance/cuda/ptx",
    "../shared/visa",
  ];
  return folders
    .map((name) => join(root, name))
    .filter((name) => existsSync(name))
    .flatMap((name) => readdirSync(name, { recursive: true }).map((file) => join(name, String(file))))
    .filter((file) => file.endsWith(ending));
}

test.each([
  ["ptx", ".ptx"],
  ["visa", ".visaasm"],
] as const)("no word of a program in %s is without a colour", async (isa, ending) => {
  const grammar = await grammarOf(isa);
  const all = programs(ending);
  expect(all.length).toBeGreaterThan(2);
  // Programs say the same again and again, with other numbers.
  const lines = new Map<string, string>();
  for (const file of all) {
    for (const line of readFileSync(file, "utf8").split("\n")) lines.set(line.replace(/\d+/g, "0"), line);
  }
  const bare = [...lines.values()].filter((line) =>
    scopes(grammar, line).some(([, scope]) => scope === `source.${isa}`),
  );
  expect(bare.slice(0, 20)).toEqual([]);
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
  const adapter = readFileSync(fileURLToPath(new URL("../../src/cli/commands/dap.ts", import.meta.url)), "utf8");
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

test("the extension can be packaged: it has its licence, and its page links to nothing outside its folder", () => {
  expect(read("LICENSE")).toBe(readFileSync(new URL("../../LICENSE", folder), "utf8"));
  const links = [...read("README.md").matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target!);
  expect(
    links.filter(
      (target) => !/^https:|^#/.test(target) && (target.includes("..") || !existsSync(new URL(target, folder))),
    ),
  ).toEqual([]);
});

/** What a snippet inserts when all of its places are left as they are. */
const inserted = (body: string | string[]): string =>
  [body]
    .flat()
    .join("\n")
    .replace(/\$\{\d+\|([^,|]*)[^}]*\}/g, "$1")
    .replace(/\$\{\d+:([^}]*)\}/g, "$1")
    .replaceAll("$0", "");

test.each([
  ["ptx", "Kernel", ".version 8.0\n.target sm_80\n.address_size 64\n"],
  ["ptx", "Function", ".version 8.0\n.target sm_80\n.address_size 64\n"],
  ["visa", "Kernel", ""],
] as const)("the snippet for a %s %s is without errors", (language, name, before) => {
  const snippets = JSON.parse(read(`snippets/${language}.json`)) as Record<string, { body: string | string[] }>;
  const workspace = new Workspace();
  workspace.openDocument("a", before + inserted(snippets[name]!.body), language);
  expect(workspace.diagnostics("a").map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
});

test("what the manifest names is there", () => {
  const manifest = read("package.json");
  for (const [, path] of manifest.matchAll(/"((?:\.\/)?(?:icon\.png|(?:snippets|syntaxes|walkthrough)\/[\w.]+))"/g))
    expect(existsSync(new URL(path!, folder)), path).toBe(true);
});
