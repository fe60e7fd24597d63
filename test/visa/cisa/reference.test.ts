import { describe, expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa, checkVisa } from "../../../src/visa/check/index.ts";
import { readHeader } from "../../../src/visa/cisa/header.ts";
import { readCisa, writeCisa } from "../../../src/visa/cisa/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import type { VisaFile } from "../../../src/visa/tree.ts";
import { plain } from "./plain.ts";
import { haveReferenceFiles, referenceFiles } from "./reference-files.ts";

const parse = (text: string): VisaFile => {
  const { tree, diagnostics } = parseVisa(new SourceText("reference.visaasm", text));
  expect(diagnostics).toEqual([]);
  return tree;
};

const write = (...trees: readonly VisaFile[]): Uint8Array => {
  const { bytes, diagnostics } = writeCisa(trees.flatMap((tree) => bindVisa(tree)));
  expect(diagnostics).toEqual([]);
  return bytes!;
};

/**
 * The bytes of each routine, in hex so that differences are readable. The headers differ, as ours has no native code.
 */
const routinesOf = (bytes: Uint8Array): readonly (readonly [kind: string, name: string, hex: string])[] =>
  readHeader(bytes).entries.map(({ kind, name, offset, size }) => [
    kind,
    name.text,
    Buffer.from(bytes.subarray(offset, offset + size)).toString("hex"),
  ]);

/**
 * The significant lines of a text. The dumps differ from our text only in comments, `.funcdecl`, names of labels (the
 * dump appends their string's index, which a table by position undoes), the order of declarations of different kinds,
 * and address variables, for which the dump gives numbers instead of names.
 */
function meaning(text: string): readonly string[] {
  const lines = text
    .split("\n")
    .map((line) =>
      line
        .replace(/\/\/.*$/, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((line) => line !== "" && !line.startsWith(".funcdecl"))
    // The dump has a dot even if there are no flags.
    .map((line) => line.replace(/^fence_(local|global)\.$/, "fence_$1"));
  const names = new Map<string, string>();
  for (const line of lines) {
    const label = /^([\w$@?-]+):$/.exec(line)?.[1];
    if (label !== undefined && !names.has(label)) names.set(label, `label${names.size}`);
  }
  const addresses = lines.flatMap((line) => /^\.decl (\w+) v_type=A/.exec(line)?.[1] ?? []);
  for (const [i, name] of addresses.entries()) names.set(name, `address${i}`);
  const renamed = lines.map((line) => line.replace(/[\w$@?-]+/g, (word) => names.get(word) ?? word));
  const declarations = renamed.filter((line) => line.startsWith(".decl")).sort();
  return [...declarations, ...renamed.filter((line) => !line.startsWith(".decl"))];
}

test.runIf(!haveReferenceFiles)("the files of the reference writer are absent: nothing is compared with them", () => {
  expect(referenceFiles).toEqual([]);
});

describe.each(referenceFiles.map((file) => [file.id, file] as const))("%s", (_id, file) => {
  const { tree, diagnostics } = readCisa(file.bytes, "reference.isa");

  test("is read without diagnostics", () => {
    expect(diagnostics).toEqual([]);
  });

  test("has the tree of the text", () => {
    const statements = file.sources.flatMap((text) => parse(text).routines.flatMap((routine) => routine.statements));
    const instructions = statements.filter(({ kind }) => kind === "instruction");
    const read = tree!.routines.flatMap((routine) => routine.statements);
    const found = read.filter(({ kind }) => kind === "instruction");
    expect(found.map(plain)).toEqual(instructions.map(plain));
  });

  test("equals the file written from its text, routine by routine, byte for byte", () => {
    expect(routinesOf(write(...file.sources.map(parse)))).toEqual(routinesOf(file.bytes));
  });

  test("equals the files written from its disassembled text and from its tree", () => {
    expect(routinesOf(write(parse(printVisa(tree!))))).toEqual(routinesOf(file.bytes));
    expect(routinesOf(write(tree!))).toEqual(routinesOf(file.bytes));
  });

  test("is disassembled to what the reference program dumps", () => {
    const texts = tree!.routines.map((routine) => printVisa({ ...tree!, routines: [routine] }));
    expect(texts.map(meaning)).toEqual(file.dumps.map(meaning));
  });

  test("with its original wrong offsets of functions, is read with warnings", () => {
    const original = readCisa(file.original, "reference.isa");
    const wrong = Math.max(0, tree!.routines.length - 2);
    expect(original.diagnostics.map(({ code, severity }) => [code, severity])).toEqual(
      Array.from({ length: wrong }, () => ["visa-cisa-routine-offset", "warning"]),
    );
    expect(plain(original.tree)).toEqual(plain(tree));
  });

  test("has the same diagnostics from the checker as its text", () => {
    const codes = (trees: readonly VisaFile[]) =>
      trees.flatMap((t) => checkVisa(t).diagnostics.map((d) => d.code)).sort();
    expect(codes([tree!])).toEqual(codes(file.sources.map(parse)));
  });
});
