import { expect, test } from "vitest";
import { renderDiagnostic, SourceText } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { readCisa, writeCisa } from "../../../src/visa/cisa/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import type { VisaFile } from "../../../src/visa/tree.ts";
import { fixture } from "./fixtures.ts";
import { plain } from "./plain.ts";

const parse = (text: string): VisaFile => {
  const { tree, diagnostics } = parseVisa(new SourceText("text.visaasm", text));
  expect(diagnostics).toEqual([]);
  return tree;
};

/** The texts of the fixtures, as their comments say. */
const texts: Readonly<Record<string, string>> = {
  "kernel-and-function": `.version 3.6
.kernel "k"
.decl V v_type=G type=ud num_elts=16 align=GRF
.decl W v_type=G type=w num_elts=8 align=hword alias=<V, 32> attrs={Output}
.decl A v_type=A num_elts=4
.decl P v_type=P num_elts=16
.decl S0 v_type=S num_elts=1 v_name=S0
.decl T6 v_type=T num_elts=1 v_name=T6
.input V offset=32 size=64
.implicit_GROUP_COUNT T6 offset=96 size=4
.kernel_attr SimdSize=16
.kernel_attr Target="3d"
.function "k_main"
k_main:
    mov (M1_NM, 8) W(0,0)<1> 0x76543210:v
loop:
    (!P.any) add.sat (M1, 16) V(0,0)<1> (-)V(1,2)<4;1,2> -1:d
    addr_add (M1_NM, 1) A(1)<1> &V[36] 4:uw
    mov (M1, 8) V(0,0)<1> r[A(1),-8]<1;2,1>:ud
    cmp.lt (M1, 16) P V(0,0)<1;1,1> 0x3ff8000000000000:df
    movs (M1_NM, 1) T6(0) 7:ud
    gather4_scaled.RB (M3, 16) T6 0:ud V.0 V.0
    (P.all) goto (M1, 16) loop
    faddr f V(0,0)<1>
    (P) ifcall (M1, 16) V(0,0)<0;1,0> 2 1
    ret (M1, 1)
.global_function "f"
.decl P v_type=P num_elts=32
.kernel_attr ArgSize=4
.kernel_attr RetValSize=2
.function "f_main"
f_main:
    mov (M1, 32) %retval(0,0)<1> %arg(0,0)<1;1,1>
    fret (M1, 32)
`,
  "version-3-0": `.version 3.0
.kernel "old"
.decl V v_type=G type=d num_elts=8 align=GRF
.decl P v_type=P num_elts=8
.input V offset=32 size=32
.function "main"
main:
    mov (M1_NM, 1) V(0,0)<1> 1:d
    (P) mov (M1, 8) V(0,0)<1> 2:d
    .file "T6"
    ret (M1, 1)
`,
  "version-4-2": `.version 4.2
.kernel "new"
.decl V v_type=G type=uq num_elts=16 align=GRF
.function "main"
main:
    ifcall.uniform (M1, 16) V(0,0)<0;1,0> 2 1
    lsc_load.ugm (M1, 16) V:d32x2 flat[V.64+16]:a64
    ret (M1, 1)
`,
};

test.each(Object.keys(texts))("%s has the tree of its text", (name) => {
  const { tree, diagnostics } = readCisa(fixture(name), `${name}.isa`);
  expect(diagnostics.filter((d) => d.severity === "error")).toEqual([]);
  const wanted = parse(texts[name]!);
  expect(plain(tree!.version)).toEqual(plain(wanted.version));
  expect(plain(tree!.routines)).toEqual(plain(wanted.routines));
  // It is also printed as equivalent text.
  expect(plain(parse(printVisa(tree!)).routines)).toEqual(plain(wanted.routines));
});

test("fields that the version does not announce are found by trial, and reported", () => {
  const { diagnostics } = readCisa(fixture("version-4-2"), "new.isa");
  expect(diagnostics.map((d) => `${d.severity}: ${d.message}`)).toEqual([
    "warning: read with a byte of flags in ifcall and an index beside the surface of LSC accesses",
  ]);
});

test("instructions without their last operands, as IGC 1.0.12504 writes them, are one error", () => {
  const bytes = fixture("version-4-2");
  const code = [
    [0x30, 0x00, 0x00],
    // mov, add and cmp of 16 channels. An execution size and a predicate cost two operands, cmp has no predicate.
    [0x29, 0x04, 0x00, 0x00],
    [0x01, 0x04, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02],
    [
      0x2c, 0x04, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x22,
      0x01,
    ],
    // ret has nothing but its opcode. The rest is whatever was in memory.
    [0x34],
  ].flat();
  bytes.set(code, 0x65);
  bytes.fill(0xf1, 0x65 + code.length, 0x65 + 0x4d);
  const { diagnostics } = readCisa(bytes, "new.isa");
  expect(diagnostics.map((d) => `${d.code}: ${d.message}`)).toEqual([
    "visa-cisa-missing-operands: its instructions lack their last operands, as in what IGC 1.0.12504 writes",
  ]);
});

test("what follows the last return of a file that lacks operands is not read", () => {
  const bytes = fixture("version-4-2");
  // A kernel that does nothing but end: IGC 1.0.12504 writes the execution size and predicate of ret as they come.
  bytes.set([0x30, 0x00, 0x00, 0x34, 0x00, 0x90, 0xff], 0x65);
  bytes.fill(0x61, 0x65 + 7, 0x65 + 0x4d);
  const { diagnostics } = readCisa(bytes, "new.isa");
  expect(diagnostics.map((d) => d.code)).toEqual(["visa-cisa-missing-operands"]);
});

test("spans are offsets in the file", () => {
  const bytes = fixture("kernel-and-function");
  const { tree } = readCisa(bytes, "k.isa");
  const [kernel] = tree!.routines;
  expect(kernel).toMatchObject({ start: 0x37, end: 0x37 + 0x18a });
  const goto = kernel!.statements.find((s) => s.kind === "instruction" && s.row.mnemonic === "goto")!;
  expect(tree!.source.slice(goto)).toBe("6c 04 01 40 01 00");
});

test("text is written as the documents say", () => {
  const kernel = parse(`.version 3.6
.kernel "k"
.decl V v_type=G type=ud num_elts=16 align=GRF attrs={Output}
.decl P v_type=P num_elts=16
.input V offset=32 size=64
.kernel_attr SimdSize=16
.function "k_main"
k_main:
    cmp.eq (M1, 16) P V(0,0)<1;1,0> 0:ud
    (!P) goto (M1, 16) skip
    call (M1, 16) sub
    faddr f V(0,0)<1>
    faddr f V(1,0)<1>
skip:
    ret (M1, 16)
.function "sub"
sub:
    ret (M1, 16)
`);
  const callee = parse(`.version 3.6
.global_function "f"
.kernel_attr Target="3d"
.kernel_attr ArgSize=3
.function "f_main"
f_main:
    fret (M1, 16)
`);
  // Kernels go first, whatever the order of the files.
  const { bytes, diagnostics } = writeCisa([...bindVisa(callee), ...bindVisa(kernel)]);
  expect(diagnostics).toEqual([]);
  expect(Buffer.from(bytes!).toString("hex")).toBe(Buffer.from(fixture("written")).toString("hex"));
});

test("a diagnostic shows its bytes", () => {
  const bytes = fixture("kernel-and-function").slice();
  const at = Buffer.from(bytes).indexOf(Buffer.from([0x6c, 0x04, 0x01, 0x40]));
  bytes[at] = 0xee;
  const { tree, diagnostics } = readCisa(bytes, "k.isa");
  expect(diagnostics.map((d) => renderDiagnostic(d))).toEqual([
    [
      "k.isa:26:47: error: 0xee is not an opcode (at 0x19c) [visa-cisa-unknown-opcode]",
      "   26 | 00000190  20 00 00 00 00 00 20 00 00 00 00 00 ee 04 01 40   ..... ........@",
      "      |                                               ^^^",
      "      = help: the rest of this routine is not read, because instructions differ in length",
    ].join("\n"),
  ]);
  // Everything before is there, and so is the other routine.
  expect(tree!.routines.map((r) => r.statements.filter((s) => s.kind === "instruction").length)).toEqual([7, 2]);
});
