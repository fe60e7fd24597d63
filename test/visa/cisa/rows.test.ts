import { expect, test } from "vitest";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { readCisa, writeCisa } from "../../../src/visa/cisa/index.ts";
import { rows } from "../../../src/visa/isa/table.ts";
import { fileItems } from "../../../src/visa/isa/template.ts";
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
