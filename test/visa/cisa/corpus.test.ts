import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { readCisa, writeCisa } from "../../../src/visa/cisa/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import type { VisaFile } from "../../../src/visa/tree.ts";
import { plain } from "./plain.ts";

const folder = new URL("../../../../shared/visa/", import.meta.url);

interface Job {
  readonly variants?: Readonly<Record<string, { readonly modules?: readonly string[] }>>;
}

/** The texts of the jobs beside the repository: compiled and hand-written, of vISA 3.6 to 4.2. */
function* modules(): Iterable<readonly [place: string, text: string]> {
  for (const kind of ["hand", "kernels", "faults"]) {
    for (const file of readdirSync(new URL(kind, folder)).filter((name) => name.endsWith(".json"))) {
      const { variants = {} } = JSON.parse(readFileSync(new URL(`${kind}/${file}`, folder), "utf8")) as Job;
      for (const [variant, { modules = [] }] of Object.entries(variants)) {
        for (const path of modules) {
          yield [`${file} ${variant} ${path}`, readFileSync(new URL(`${kind}/${path}`, folder), "utf8")];
        }
      }
    }
  }
}

const parse = (text: string): VisaFile => parseVisa(new SourceText("module.visaasm", text)).tree;
const instructions = ({ routines }: VisaFile): unknown =>
  routines.map(({ statements }) => statements.filter(({ kind }) => kind === "instruction").map(plain));

test.runIf(existsSync(folder))("every module of the jobs survives a round trip", () => {
  const unheld: string[] = [];
  const seen = new Set<string>();
  for (const [place, text] of modules()) {
    if (seen.has(text)) continue;
    seen.add(text);
    const tree = parse(text);
    const { bytes, diagnostics } = writeCisa(bindVisa(tree));
    if (bytes === null) {
      unheld.push(...diagnostics.map((d) => d.message));
      continue;
    }
    const read = readCisa(bytes, "module.isa");
    expect(read.diagnostics, place).toEqual([]);
    const [got, want] = [instructions(read.tree!), instructions(tree)];
    if (JSON.stringify(got) !== JSON.stringify(want)) expect(got, place).toEqual(want);
    const again = writeCisa(bindVisa(parse(printVisa(read.tree!)))).bytes!;
    expect(Buffer.compare(again, bytes), place).toBe(0);
  }
  expect(seen.size).toBeGreaterThan(250);
  // The only things in them that 3.6 cannot hold.
  expect([...new Set(unheld)].sort()).toEqual([
    "%msg0 was added after version 3.6",
    "ifcall.uniform has no field for this (hint)",
  ]);
});
