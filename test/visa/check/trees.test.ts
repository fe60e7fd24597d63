import { expect, test } from "vitest";
import { type Diagnostic, SourceText } from "../../../src/source/index.ts";
import { checkVisa } from "../../../src/visa/check/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import type { Platform, Row } from "../../../src/visa/isa/row.ts";
import type { Instruction, Operand, VisaFile } from "../../../src/visa/tree.ts";

/* Trees that the parser itself refuses but a binary file may have, and rules that depend on the platform. */
const text = (body: string): string =>
  `.version 3.6\n.kernel "k"\n.decl A v_type=G type=ud num_elts=16 align=GRF\n.kernel_attr SimdSize=16\n.function "m"\nm:\n    ${body}\n    ret (M1, 1)\n`;

const parsed = (body: string): VisaFile => {
  const { tree, diagnostics } = parseVisa(new SourceText("k.visaasm", text(body)));
  expect(diagnostics).toEqual([]);
  return tree;
};

/** The tree with its first instruction changed. */
function changed(tree: VisaFile, change: (instruction: Instruction) => Instruction): VisaFile {
  const [routine] = tree.routines;
  let done = false;
  const statements = routine!.statements.map((statement) => {
    if (statement.kind !== "instruction" || done) return statement;
    done = true;
    return change(statement);
  });
  return { ...tree, routines: [{ ...routine!, statements }] };
}

const codes = (diagnostics: readonly Diagnostic[]): string[] => diagnostics.map(({ code }) => code);

const check = (tree: VisaFile, platform: Platform | null = null): string[] =>
  codes(checkVisa(tree, { platform }).diagnostics);

test("an immediate as the destination", () => {
  const tree = parsed("mov (M1, 16) A(0,0)<1> 1:ud");
  const immediate: Operand = { kind: "immediate", type: "ud", bits: 1n, start: 0, end: 0 };
  const wrong = changed(tree, (i) => ({ ...i, operands: { ...i.operands, dst: immediate } }));
  expect(check(tree)).toEqual([]);
  expect(check(wrong)).toEqual(["visa-operand-not-allowed"]);
});

test("a number that the row excludes", () => {
  const tree = parsed("ifcall (M1, 16) A(0,0)<0;1,0> 1 1");
  const size: Operand = { kind: "number", value: 256, start: 0, end: 0 };
  const wrong = changed(tree, (i) => ({ ...i, operands: { ...i.operands, returnSize: size } }));
  expect(check(tree)).toEqual([]);
  expect(check(wrong)).toContain("visa-number");
});

test("platforms and versions gate rows", () => {
  const tree = parsed("rol (M1, 16) A(0,0)<1> A(0,0)<1;1,0> 3:ud");
  expect(check(tree)).toEqual([]);
  expect(check(tree, "skl")).toEqual(["visa-platform"]);
  expect(check(tree, "tgllp")).toEqual([]);
  const gated = (gate: Partial<Row>): VisaFile => changed(tree, (i) => ({ ...i, row: { ...i.row, ...gate } }));
  expect(check(gated({ since: "3.7" }))).toEqual(["visa-version-gate"]);
  expect(check(gated({ since: "3.6" }))).toEqual([]);
  expect(check(gated({ until: "tgllp" }), "tgllp")).toEqual(["visa-platform"]);
  expect(check(gated({ until: "tgllp" }), "icllp")).toEqual([]);
  expect(check(gated({ only: ["dg2"] }), "tgllp")).toEqual(["visa-platform"]);
});
