import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { printPtx } from "../../../src/ptx/printer.ts";
import { SourceText } from "../../../src/source/index.ts";
import type { CorpusFile } from "../../corpus.ts";
import { conformance, corpus } from "./corpus.ts";
import { dump } from "./dump.ts";

const files = corpus();
const absent = files.length === 0;
const why = absent ? " (no conformance modules beside the repository)" : "";

const parse = (text: string) => parsePtx(new SourceText("module.ptx", text));

/** The probes that ptxas rejects with a syntax error. */
function syntaxErrors(): ReadonlySet<string> {
  const rejected = readFileSync(new URL("ptxas-probe/results.tsv", conformance), "utf8")
    .split("\n")
    .filter((line) => line.includes("syntax error"))
    .map((line) => `ptxas-probe/${line.split("\t")[0]}.ptx`);
  return new Set(rejected);
}

/** Modules that are syntax errors in ptxas, but that are parsed here and rejected by the checker. */
const leftToTheChecker = new Set(
  (
    "ind_proto_named_params noreturn_entry abi_preserve_entry attr_unified_one_arg attr_managed_func attr_unified_entry " +
    "abi_then_noreturn ind_imm_target arg_sub_element ld_ver_future_feature"
  )
    .split(" ")
    .map((name) => `ptxas-probe/${name}.ptx`),
);
/** The modules of `reject/` that have a syntax error, and its line. */
const rejectedHere: ReadonlyMap<string, number> = new Map([
  ["reject/f32_hex_short.ptx", 28],
  ["reject/f64_hex_short.ptx", 28],
  ["reject/guard_on_directive.ptx", 28],
  ["reject/instr_at_module.ptx", 4],
  ["reject/missing_semicolon.ptx", 28],
  ["reject/octal_digit.ptx", 28],
]);

describe.skipIf(absent)(`conformance modules${why}`, () => {
  test("are parsed without diagnostics, except for the syntax errors", () => {
    const expected = [...syntaxErrors()].filter((path) => !leftToTheChecker.has(path)).concat([...rejectedHere.keys()]);
    const found = files.filter(({ text }) => parse(text).diagnostics.length > 0).map(({ path }) => path);
    expect(found.sort()).toEqual(expected.sort());
  });

  test("have their syntax errors on the expected lines", () => {
    const lines = [...rejectedHere].map(([path]) => {
      const file = files.find((candidate) => candidate.path === path)!;
      const { tree, diagnostics } = parse(file.text);
      return [path, ...new Set(diagnostics.map(({ span }) => tree.source.position(span.start).line))];
    });
    expect(lines).toEqual([...rejectedHere]);
  });

  test("have the same tree when printed and parsed again", () => {
    for (const { path, text } of files) {
      const { tree, diagnostics } = parse(text);
      const printed = printPtx(tree);
      const again = parse(printed);
      expect(printPtx(again.tree), path).toBe(printed);
      expect(again.tree.comments.length, path).toBe(tree.comments.length);
      if (diagnostics.length === 0) {
        expect(again.diagnostics, path).toEqual([]);
        expect(dump(again.tree), path).toBe(dump(tree));
      }
    }
  });
});

const ptxas = spawnSync("ptxas", ["--version"]).status === 0;

/** The printed text of some modules that ptxas accepts, by target. */
function sampled(): readonly CorpusFile[] {
  const accepted = files.filter(({ path }) => path.startsWith("cuda/") || path.startsWith("hand/"));
  return accepted.filter((file, i) => i % 12 === 0 && existsSync(new URL(file.path, conformance)));
}

describe.skipIf(absent || !ptxas)(`ptxas${ptxas ? why : " (not installed)"}`, () => {
  test("accepts printed modules", () => {
    const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
    try {
      for (const { path, text } of sampled()) {
        const input = join(folder, "printed.ptx");
        const target = /\.target\s+(sm_\w+)/.exec(text)?.[1] ?? "sm_90";
        writeFileSync(input, printPtx(parse(text).tree));
        const run = spawnSync("ptxas", ["-O0", `-arch=${target}`, "-c", input, "-o", join(folder, "out")], {
          timeout: 600_000,
        });
        expect(`${path}: ${run.stderr}${run.stdout}`.match(/.*(?:error|fatal).*/)?.[0]).toBeUndefined();
        expect(run.status, path).toBe(0);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
