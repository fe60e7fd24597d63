import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import type { Row } from "../../../src/visa/isa/row.ts";
import { rows } from "../../../src/visa/isa/table.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import type { Instruction, VisaFile } from "../../../src/visa/tree.ts";
import { plain } from "./plain.ts";

/*
 * Each line of instructions.txt is an instruction; a line below it that begins with `=>` is its canonical text, if that
 * differs. They come from IGC's grammar; GenX_IR 1.0.12504 accepts those that it knows, and makes the same machine code
 * from both spellings.
 */
interface Case {
  readonly text: string;
  readonly canonical: string;
}

const cases: Case[] = [];
for (const line of readFileSync(new URL("instructions.txt", import.meta.url), "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  if (line.startsWith("=> ")) cases[cases.length - 1] = { text: cases.at(-1)!.text, canonical: line.slice(3) };
  else cases.push({ text: line, canonical: line });
}

const types = { U: "ud", D: "d", W: "w", B: "b", F: "f", L: "df", Q: "uq", H: "hf" };
const heading = [
  ".version 4.2",
  '.kernel "k"',
  "",
  ...Object.entries(types).map(([name, type]) => `.decl ${name} v_type=G type=${type} num_elts=256 align=GRF`),
  "",
  ".kernel_attr SimdSize=16",
  "",
  "",
].join("\n");

const parse = (text: string) => parseVisa(new SourceText("case.visaasm", `${heading}    ${text}\n`));

const instructionOf = (tree: VisaFile): Instruction => {
  const statement = tree.routines[0]?.statements.at(-1);
  if (statement?.kind !== "instruction") throw new Error("the last statement is no instruction");
  return statement;
};

describe("instructions", () => {
  test.each(cases)("$text", ({ text, canonical }) => {
    const { tree, diagnostics } = parse(text);
    expect(diagnostics.map(({ message }) => message)).toEqual([]);
    expect(printVisa(tree)).toBe(`${heading}    ${canonical}\n`);
    expect(plain(parse(canonical).tree)).toBe(plain(tree));
  });

  test("every row of the table is among them", () => {
    const seen = new Set<Row>(cases.map(({ text }) => instructionOf(parse(text).tree).row));
    expect(rows.filter((row) => !seen.has(row)).map(({ text }) => text)).toEqual([]);
  });
});
