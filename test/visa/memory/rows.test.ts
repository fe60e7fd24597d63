import { describe, expect, test } from "vitest";
import type { Row } from "../../../src/visa/isa/row.ts";
import { rows } from "../../../src/visa/isa/table.ts";
import { fileItems, type PackedPart, textItems } from "../../../src/visa/isa/template.ts";

const inText = (row: Row): string[] =>
  textItems(row).flatMap((item) => {
    switch (item.kind) {
      case "mnemonic":
        return item.suffixes.flatMap((suffix) => (suffix.kind === "operand" ? [suffix.operand] : []));
      case "operand":
      case "parenthesised":
        return [item.operand];
      case "tuple":
        return [...item.operands];
      case "sized":
        return [item.operand, item.size];
      default:
        return [];
    }
  });

const inFile = (row: Row): string[] =>
  (fileItems(row) ?? []).flatMap((item) => {
    if (item.kind === "operand") return [item.operand];
    if (item.kind !== "packed") return [];
    return item.parts.flatMap((part) => (typeof part === "number" ? [] : [part.operand]));
  });

/** The rows that violate a rule. */
const broken = (holds: (row: Row) => boolean): string[] => rows.filter((row) => !holds(row)).map((row) => row.text);

const bitsOf = (row: Row, part: PackedPart): number => {
  if (typeof part === "number") return part;
  const spec = row.operands[part.operand];
  return spec?.class === "option" ? Object.values(spec.choices).reduce((a, b) => a | b, 0) : 0;
};

describe("in every row", () => {
  test("the text names each operand once", () => {
    expect(broken((row) => inText(row).toSorted().join() === Object.keys(row.operands).toSorted().join())).toEqual([]);
  });

  test("the file names operands of the row", () => {
    expect(broken((row) => inFile(row).every((name) => name in row.operands))).toEqual([]);
  });

  test("there are execution sizes if and only if the text has one", () => {
    expect(broken((row) => textItems(row).some(({ kind }) => kind === "exec") === (row.sizes !== null))).toEqual([]);
  });

  test("the bits of parts that share a field do not overlap", () => {
    const apart = (row: Row): boolean =>
      (fileItems(row) ?? []).every((item) => {
        if (item.kind !== "packed") return true;
        const bits = item.parts.map((part) => bitsOf(row, part));
        return bits.reduce((a, b) => a + b, 0) === bits.reduce((a, b) => a | b, 0);
      });
    expect(broken(apart)).toEqual([]);
  });
});
