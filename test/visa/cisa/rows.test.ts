import { expect, test } from "vitest";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { readCisa, writeCisa } from "../../../src/visa/cisa/index.ts";
import { rows } from "../../../src/visa/isa/table.ts";
import { fileItems } from "../../../src/visa/isa/template.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import { SourceText } from "../../../src/source/index.ts";
import { plain } from "./plain.ts";
import { fileOf, routineOf, samplesOf } from "./sample-instructions.ts";

const inFiles = rows.filter((row) => fileItems(row) !== null);

test("nearly all rows have a layout", () => {
  expect(inFiles.length).toBeGreaterThan(200);
});

test.each(inFiles.map((row, i) => [`${row.mnemonic} (${row.opcode.toString(16)}, ${i})`, row] as const))(
  "%s, with each choice of its operands, is read as it was written",
  (_name, row) => {
    const instructions = samplesOf(row);
    const [bound] = bindVisa(fileOf(routineOf(instructions)));
    expect(bound!.diagnostics).toEqual([]);
    const { bytes, diagnostics } = writeCisa([bound!]);
    expect(diagnostics).toEqual([]);
    const read = readCisa(bytes!, "sample.isa");
    expect(read.diagnostics.map((d) => d.message)).toEqual([]);
    const found = read.tree!.routines[0]!.statements.filter(({ kind }) => kind === "instruction");
    expect(found.map(plain)).toEqual(instructions.map(plain));
  },
);

// FCCALL: "the same as CALL with the same opcode (0x33)", except for the label; LABEL_FC is 2 in IGC's headers.
// RT_READ: its page has the fields, and the bits of the mode: PS is 1, SI is 2.
test.each([
  ["call (M1, 16) sub", "33 04 00 00 01 00", 1],
  ["fccall (M1, 16) other", "33 04 00 00 01 00", 2],
  ["(P1) fccall (M1_NM, 1) other", "33 80 01 00 01 00", 2],
  ["rt_read (M1, 16) T6 V.0", "90 04 00 00 00 00 06 20 00 00 00 00 00", null],
  ["rt_read.PS (M1, 16) T6 V.0", "90 04 00 00 01 00 06 20 00 00 00 00 00", null],
  ["rt_read.PSSI (M1, 16) T6 0x3:uw V.0", "90 04 00 00 03 00 06 05 02 03 00 00 00 20 00 00 00 00 00", null],
])("%s has the bytes of its page", (instruction, wanted, labelKind) => {
  const text = `.version 3.6
.kernel "k"
.decl V v_type=G type=ud num_elts=64 align=GRF
.decl P1 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1 v_name=T6
.function "m"
m:
    ${instruction}
    ret (M1, 1)
.function "sub"
sub:
    ret (M1, 16)
`;
  const { tree } = parseVisa(new SourceText("k.visaasm", text));
  const [bound] = bindVisa(tree);
  const { bytes, diagnostics } = writeCisa([bound!]);
  expect([...bound!.diagnostics, ...diagnostics]).toEqual([]);
  const hex = Buffer.from(bytes!).toString("hex").match(/../g)!.join(" ");
  expect(hex).toContain(wanted);
  const labels = labelKinds(bytes!, instruction.includes("fccall") ? ["m", "other", "sub"] : ["m", "sub"]);
  expect(labels).toContain(labelKind ?? 1);
  const read = readCisa(bytes!, "k.isa");
  expect(read.diagnostics).toEqual([]);
  expect(printVisa(read.tree!)).toContain(instruction);
});

/** The kinds in the table of labels: string (u32), kind (u8), attributes (u8) of each. */
function labelKinds(bytes: Uint8Array, names: readonly string[]): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = 2 + 6 * names.length;
  for (let at = 0; at + size < bytes.length; at++) {
    if (view.getUint16(at, true) !== names.length) continue;
    const entries = names.map((_, i) => at + 2 + 6 * i);
    const fits = entries.every((e) => view.getUint32(e, true) < 64 && bytes[e + 4]! < 3 && bytes[e + 5] === 0);
    if (fits && bytes[entries[0]! + 4] === 1) return entries.map((e) => bytes[e + 4]!);
  }
  return [];
}
