import { expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { readCisa, writeCisa } from "../../../src/visa/cisa/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { fixture } from "./fixtures.ts";

const kernel = (name: string, statements: string): string => `.version 4.1
.kernel "${name}"
.decl V v_type=G type=ud num_elts=512 align=GRF
.decl Q v_type=G type=uq num_elts=16 align=GRF
.decl A v_type=A num_elts=4
${statements}
.function "${name}_main"
${name}_main:
`;

/** The writer's diagnostics for a kernel with these statements and instructions. */
function complaints(statements: string, instructions: string, repeated = ""): readonly string[] {
  const { tree, diagnostics } = parseVisa(
    new SourceText("k.visaasm", `${kernel("k", statements)}${instructions}\n    ret (M1, 1)\n${repeated}`),
  );
  expect(diagnostics).toEqual([]);
  const written = writeCisa(bindVisa(tree));
  expect(written.bytes === null).toBe(written.diagnostics.length > 0);
  return written.diagnostics.map((d) => d.message);
}

const declarations = (count: number, of: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => of(i)).join("\n");

test.each([
  ["    mov (M1, 1) V(256,0)<1> 0:ud", "the row is 256, but a file can hold only 0 to 255"],
  ["    mov (M1, 1) V(0,256)<1> 0:ud", "the column is 256, but a file can hold only 0 to 255"],
  ["    mov (M1, 1) V(0,0)<1> A(300)<1>", "the element is 300, but a file can hold only 0 to 255"],
  ["    mov (M1, 1) V(0,0)<1> %impl_arg_buf_ptr(0,0)<0;1,0>", "%impl_arg_buf_ptr was added after version 3.6"],
  ["    addr_add (M1, 1) A(0)<1> &V[2] 0:uw", "byte 2 is not the start of an element of V"],
  ["    mov (M1, 1) V(0,0)<1> &V", "the address of a variable can only be the first source of addr_add"],
  ["    ifcall.uniform (M1, 1) V(0,0)<0;1,0> 0 0", "ifcall.uniform has no field for this (hint)"],
  ["    tanh (M1, 1) V(0,0)<1> V(0,0)<0;1,0>", null],
  ["    nbarrier.wait 1:ub", "the binary layout of nbarrier.wait is not known"],
])("%s", (instruction, message) => {
  expect(complaints("", instruction)).toEqual(message === null ? [] : [message]);
});

test("inputs of a kind that files have no code for", () => {
  const input = (kind: string): string => `.implicit_${kind} V offset=0 size=4`;
  expect(complaints(["LOCAL_ID", "PSEUDO_INPUT", "UNDEFINED_31"].map(input).join("\n"), "")).toEqual([]);
  expect(complaints(["MOON", "UNDEFINED_32"].map(input).join("\n"), "")).toEqual([
    "there is no code for an input of the kind MOON",
    "there is no code for an input of the kind UNDEFINED_32",
  ]);
});

test("tables have their limits", () => {
  const surfaces = declarations(256, (i) => `.decl T${i + 6} v_type=T num_elts=1`);
  expect(complaints(surfaces, "")).toEqual([
    "the number of entries of a table is 256, but a file can hold only 0 to 255",
  ]);
  const samplers = declarations(32, (i) => `.decl SA${i} v_type=S num_elts=1`);
  expect(complaints(samplers, "")).toEqual(["a routine can declare at most 31 samplers"]);
  const labels = declarations(65_536, (i) => `L${i}:`);
  expect(complaints("", labels)).toContain("a routine can have at most 65535 labels");
});

test("more variables are read than a call can have arguments", () => {
  const variables = declarations(150_000, (i) => `.decl X${i} v_type=G type=ud num_elts=1`);
  const { tree } = parseVisa(new SourceText("k.visaasm", `${kernel("k", variables)}    ret (M1, 1)\n`));
  const read = readCisa(writeCisa(bindVisa(tree)).bytes!, "k.isa");
  expect(read.diagnostics).toEqual([]);
  expect(read.tree!.routines[0]!.statements.length).toBe(tree.routines[0]!.statements.length);
});

test("a routine's name is unique and not too long", () => {
  expect(complaints("", "", '.global_function "k"\n    fret (M1, 1)\n')).toEqual(["two routines are named k"]);
  const long = "n".repeat(256);
  expect(complaints("", "", `.global_function "${long}"\n    fret (M1, 1)\n`)).toEqual([
    "a name can have at most 255 bytes, but this one has 256",
  ]);
});

test.each([
  ["nothing", [], "visa-cisa-not-a-file"],
  ["text", [...".version 3.6"].map((c) => c.charCodeAt(0)), "visa-cisa-not-a-file"],
  ["a version to come", [0x43, 0x49, 0x53, 0x41, 5, 0], "visa-cisa-version"],
  ["a header that ends", [0x43, 0x49, 0x53, 0x41, 3, 6, 1], "visa-cisa-truncated"],
] as const)("%s is no tree", (_what, bytes, code) => {
  const { tree, diagnostics } = readCisa(Uint8Array.from(bytes), "x.isa");
  expect(tree).toBe(null);
  expect(diagnostics.map((d) => d.code)).toEqual([code]);
});

test("an external function is reported and left out", () => {
  const bytes = fixture("kernel-and-function").slice();
  bytes.fill(0, 0x2b, 0x33);
  const { tree, diagnostics } = readCisa(bytes, "x.isa");
  expect(tree!.routines.map((r) => r.name.text)).toEqual(["k"]);
  expect(diagnostics.map((d) => [d.severity, d.message])).toEqual([
    ["warning", "function f is external: its instructions are not in this file"],
  ]);
});

test("a modifier where text can have none is an error", () => {
  const bytes = fixture("kernel-and-function").slice();
  const mov = Buffer.from(bytes).indexOf(Buffer.from([0x29, 0x83, 0, 0, 0]));
  bytes[mov + 4] = 2 << 3; // (-), of the destination
  const { diagnostics } = readCisa(bytes, "x.isa");
  expect(diagnostics.map((d) => d.message)).toEqual([
    `this operand cannot have the modifier 2 (at 0x${(mov + 4).toString(16)})`,
  ]);
});

test("names that text cannot have are replaced", () => {
  const bytes = fixture("kernel-and-function").slice();
  const at = Buffer.from(bytes).indexOf("V\0W\0A\0");
  // Two variables with the same name, and one without a name.
  bytes.set([0x56, 0, 0x56, 0, 0x2d, 0], at);
  const { tree, diagnostics } = readCisa(bytes, "x.isa");
  expect(diagnostics).toEqual([]);
  const names = tree!.routines[0]!.statements.flatMap((s) => (s.kind === "decl" ? [s.name.text] : []));
  expect(names.slice(0, 3)).toEqual(["V", "V33", "A0"]);
});
