import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import type { CorpusFile } from "../../corpus.ts";
import { corpus, shared } from "./corpus.ts";
import { plain } from "./plain.ts";

const files = corpus();
const absent = files.length === 0;
const why = absent ? " (no vISA cases beside the repository)" : "";

const parse = (text: string) => parseVisa(new SourceText("file.visaasm", text));

interface RejectCase {
  readonly id: string;
  readonly module: string;
  readonly line: number;
}

/** The programs to be rejected that the grammar does not accept; the rest is for the checker. */
const syntactic = [
  "n01_upper_case",
  "n02_no_sizes",
  "n03_one_size",
  "n15_extra_operand",
  "n16_negative_size",
  "n20_saturate",
  "n25_fcall_by_address",
  "n33_faddr_no_dst",
  "n47_no_version",
];

describe.skipIf(absent)(`vISA cases${why}`, () => {
  test("are read without diagnostics, except for the syntax errors, which are on their lines", () => {
    const { cases } = JSON.parse(readFileSync(new URL("reject.json", shared), "utf8")) as { cases: RejectCase[] };
    const expected = cases
      .filter(({ id }) => syntactic.includes(id))
      .map(({ module, line }) => `${module}:${line}`)
      .sort();
    const found = files.flatMap(({ path, text }) => {
      const { tree, diagnostics } = parse(text);
      return diagnostics.map(({ span }) => `${path}:${tree.source.position(span.start).line}`);
    });
    expect(expected).toHaveLength(syntactic.length);
    expect(found.sort()).toEqual(expected);
  });

  test("have the same tree when printed and read again", () => {
    for (const { path, text } of files) {
      const { tree, diagnostics } = parse(text);
      const printed = printVisa(tree);
      const again = parse(printed);
      expect(printVisa(again.tree), path).toBe(printed);
      expect(again.tree.comments.length, path).toBe(tree.comments.length);
      expect(again.diagnostics.length, path).toBe(diagnostics.length);
      if (plain(again.tree) !== plain(tree)) expect.fail(`${path}: another tree`);
    }
  });
});

const genx = spawnSync("GenX_IR", []).error === undefined;

/** One file of each kind that GenX_IR accepts unchanged, with its platform there. */
function sampled(): readonly (CorpusFile & { readonly platform: string })[] {
  const platforms = { skl: "SKL", tgllp: "TGLLP", "\\.dg2": "DG2", "\\.pvc": "PVCXT" };
  return Object.entries(platforms).flatMap(([name, platform]) => {
    const known = files.filter(({ path }) => /^kernels\/dumps\/(?!.*fc3)/.test(path) && new RegExp(name).test(path));
    return known.filter((_, i) => i % 24 === 0).map((file) => ({ ...file, platform }));
  });
}

describe.skipIf(absent || !genx)(`GenX_IR${genx ? why : " (not installed)"}`, () => {
  test("makes the same machine code from printed text", () => {
    const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
    /** Null if the text is not accepted. */
    const machineCode = (text: string, platform: string): Buffer | null => {
      writeFileSync(join(folder, "a.visaasm"), text);
      rmSync(join(folder, "a.dat"), { force: true });
      const options = ["a.visaasm", "-platform", platform, "-output", "-binary", "-noverifyCISA"];
      const { status } = spawnSync("GenX_IR", options, { cwd: folder, timeout: 20_000 });
      return status === 0 ? readFileSync(join(folder, "a.dat")) : null;
    };
    try {
      const sample = sampled();
      let accepted = 0;
      for (const { path, text, platform } of sample) {
        const wanted = machineCode(text, platform);
        if (wanted === null) continue;
        accepted++;
        const printed = machineCode(printVisa(parse(text).tree), platform);
        expect(printed?.equals(wanted), path).toBe(true);
      }
      expect(accepted).toBeGreaterThan(sample.length / 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
