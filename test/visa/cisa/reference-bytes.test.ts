import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { readCisa, writeCisa } from "../../../src/visa/cisa/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import type { VisaFile } from "../../../src/visa/tree.ts";
import { typeBytes } from "../../../src/visa/types.ts";
import { plain } from "./plain.ts";

const types = ["ud", "d", "uw", "w", "ub", "b", "df", "f", "uq", "q", "hf"] as const;
const before = `.version 3.6
.kernel "k"
${types.map((t) => `.decl ${t.toUpperCase()} v_type=G type=${t} num_elts=${1024 / typeBytes(t)} align=GRF`).join("\n")}
.decl A0 v_type=A num_elts=16
.decl A1 v_type=A num_elts=8
.decl P1 v_type=P num_elts=32
.decl P2 v_type=P num_elts=32
.decl S0 v_type=S num_elts=1 v_name=S0
.decl S1 v_type=S num_elts=2 v_name=S1
.decl T6 v_type=T num_elts=1 v_name=T6
.decl T7 v_type=T num_elts=4 v_name=T7
.kernel_attr Target="cm"
.function "m"
m:
here:
`;
const after = `there:
    ret (M1, 1)
.function "routine"
routine:
    ret (M1, 16)
`;
/** `there:`, `ret`, `.function`, `ret`. */
const bytesAfter = 3 + 4 + 3 + 4;

const cases = readFileSync(new URL("reference-bytes.txt", import.meta.url), "utf8")
  .replace(/^#.*\n/gm, "")
  .trim()
  .split(/\n(?! )/)
  .map((entry) => entry.split(/\n +/) as [instruction: string, hex: string]);

const instructions = ({ routines }: VisaFile): unknown =>
  routines[0]!.statements.filter(({ kind }) => kind === "instruction").map(plain);

test("instructions have the reference writer's bytes, and are read back from them", () => {
  expect(cases.length).toBeGreaterThan(900);
  for (const [instruction, hex] of cases) {
    const { tree, diagnostics } = parseVisa(new SourceText("k.visaasm", `${before}    ${instruction}\n${after}`));
    expect(diagnostics, instruction).toEqual([]);
    const bytes = Buffer.from(writeCisa(bindVisa(tree)).bytes!);
    const end = bytes.length - bytesAfter;
    // The label before the instruction shows that it has no further bytes.
    const wanted = `310100${hex}`;
    expect(bytes.toString("hex", end - wanted.length / 2, end), instruction).toBe(wanted);
    const read = readCisa(bytes, "k.isa");
    expect(read.diagnostics, instruction).toEqual([]);
    expect(instructions(read.tree!), instruction).toEqual(instructions(tree));
  }
});
