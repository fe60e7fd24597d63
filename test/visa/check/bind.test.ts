import { expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import type { Statement, VisaFile } from "../../../src/visa/tree.ts";
import { declare, name, nowhere } from "../declare.ts";

const file = (statements: readonly Statement[]): VisaFile => ({
  source: new SourceText("k.visaasm", ""),
  version: null,
  comments: [],
  routines: [{ kind: "kernel", name: name("k"), version: null, statements, ...nowhere }],
});

const bind = (...statements: Statement[]) => bindVisa(file(statements))[0]!;

test("declared variables are numbered after the predefined ones of their kind", () => {
  const routine = bind(
    declare("G", "A", 8, { type: "f" }),
    declare("P", "P1", 16),
    declare("T", "T6", 1),
    declare("A", "X", 4),
    declare("G", "B", 4, { type: "uq", align: "qword" }),
    declare("S", "S0", 1),
  );
  const declared = routine.variables.filter((v) => !v.predefined);
  expect(declared.map((v) => [v.name, v.kind, v.index, v.type, v.bytes, v.align])).toEqual([
    ["A", "G", 32, "f", 32, 32],
    ["P1", "P", 1, "bool", 0, 1],
    ["T6", "T", 6, "ud", 4, 4],
    ["X", "A", 0, "ud", 16, 4],
    ["B", "G", 33, "uq", 32, 32],
    ["S0", "S", 0, "ud", 4, 4],
  ]);
  expect(routine.diagnostics).toEqual([]);
});

test("aliases lead to a root and an offset in it", () => {
  const routine = bind(
    declare("G", "A", 64, { type: "ud" }),
    declare("G", "B", 16, { type: "uw", alias: ["A", 32] }),
    declare("G", "C", 4, { type: "ub", alias: ["B", 8] }),
    declare("G", "R", 8, { type: "ud", alias: ["V7", 4] }),
  );
  const of = (text: string) => routine.variables.find((v) => v.name === text)!;
  expect([of("C").root.name, of("C").rootOffset]).toEqual(["A", 40]);
  expect([of("R").root.name, of("R").rootOffset]).toEqual(["%r0", 4]);
  expect([of("A").root.name, of("A").rootOffset, of("A").alias]).toEqual(["A", 0, null]);
});

test("a cycle of aliases is broken, and an alias of a later declaration is resolved and reported", () => {
  const routine = bind(
    declare("G", "A", 8, { type: "ud", alias: ["B", 0] }),
    declare("G", "B", 8, { type: "ud", alias: ["C", 0] }),
    declare("G", "C", 8, { type: "ud", alias: ["A", 0] }),
    declare("G", "D", 8, { type: "ud", alias: ["E", 16] }),
    declare("G", "E", 16, { type: "ud" }),
  );
  expect(routine.diagnostics.map((d) => d.code)).toEqual([
    "visa-use-before-declaration",
    "visa-use-before-declaration",
    "visa-use-before-declaration",
    "visa-alias-cycle",
  ]);
  const of = (text: string) => routine.variables.find((v) => v.name === text)!;
  expect([of("D").root.name, of("D").rootOffset]).toEqual(["E", 16]);
  expect(new Set(["A", "B", "C"].map((text) => of(text).root)).size).toBe(1);
});

test("a name of an inner scope hides the outer one, and ends with its scope", () => {
  const inner = declare("G", "A", 4, { type: "uw" });
  const input: Statement = {
    kind: "input",
    implicit: "",
    name: name("A"),
    offset: 32,
    size: 8,
    attributes: [],
    ...nowhere,
  };
  const routine = bind(
    declare("G", "A", 8, { type: "ud" }),
    { kind: "scope", statements: [inner, { ...input, name: name("A"), offset: 64 }], ...nowhere },
    input,
  );
  expect(routine.inputs.map(({ variable, offset }) => [variable.type, offset])).toEqual([
    ["uw", 64],
    ["ud", 32],
  ]);
  expect(routine.diagnostics).toEqual([]);
});

test("registers have 64 bytes if aliases of predefined variables imply it", () => {
  expect(bind(declare("G", "A", 16, { type: "d", align: "wordx32", alias: ["%r0", 0] })).grfBytes).toBe(64);
  expect(bind(declare("G", "A", 8, { type: "d", align: "hword", alias: ["%r0", 0] })).grfBytes).toBe(32);
  expect(bindVisa(file([]), { platform: "pvc" })[0]!.grfBytes).toBe(64);
  const arg = bindVisa(file([]), { platform: "pvc" })[0]!.variables.find((v) => v.name === "%arg")!;
  expect(arg.elements).toBe(512);
});

test("registers have 64 bytes if an instruction exists only where they do", () => {
  const sizeWith = (instruction: string): number => {
    const source = new SourceText(
      "k.visaasm",
      `.version 4.2\n.kernel "k"\n.function "f"\nf:\n    ${instruction}\n    ret (M1, 1)\n`,
    );
    return bindVisa(parseVisa(source).tree)[0]!.grfBytes;
  };
  expect(sizeWith("barrier")).toBe(32);
  expect(sizeWith("lsc_fence.ugm.none.group")).toBe(32);
  // Named barriers came with PVC.
  expect(sizeWith("nbarrier.wait 0x0:b")).toBe(64);
});

test("the label after the first .function is the body, after any other a subroutine", () => {
  const directive = (text: string): Statement => ({ kind: "function-directive", name: name(text), ...nowhere });
  const label = (text: string): Statement => ({ kind: "label", name: name(text), ...nowhere });
  const routine = bind(directive("main"), label("main"), label("L"), directive("sub"), label("sub"), label("M"));
  expect([...routine.labels.values()].map(({ name: text, kind }) => `${text} ${kind}`)).toEqual([
    "main block",
    "L block",
    "sub subroutine",
    "M block",
  ]);
  expect(routine.diagnostics).toEqual([]);
  expect(bind(label("L"), label("L")).diagnostics.map((d) => d.code)).toEqual(["visa-duplicate-label"]);
});
