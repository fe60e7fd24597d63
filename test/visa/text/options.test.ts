import { expect, test } from "vitest";
import { SourceText } from "../../../src/source/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import type { VisaFile } from "../../../src/visa/tree.ts";

const text = '.version 3.6\n.kernel "k"\n\n.decl V v_type=G type=ud num_elts=%sizeof GRF\n';

test("a register has 32 bytes by default", () => {
  const source = new SourceText("k.visaasm", text);
  expect(parseVisa(source).tree.routines[0]!.statements[0]).toMatchObject({ elements: 32 });
  expect(parseVisa(source, { grfBytes: 64 }).tree.routines[0]!.statements[0]).toMatchObject({ elements: 64 });
});

test("a tree that was made without text is printed like one that was read", () => {
  const { tree } = parseVisa(new SourceText("k.visaasm", text));
  const made: VisaFile = {
    source: new SourceText("k.isa", ""),
    version: tree.version,
    routines: tree.routines,
    comments: [],
  };
  expect(printVisa(made)).toBe(printVisa(tree));
});
