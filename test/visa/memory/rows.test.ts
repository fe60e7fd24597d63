import { describe, expect, test } from "vitest";
import type { Row } from "../../../src/visa/isa/row.ts";
import { rows } from "../../../src/visa/isa/table.ts";
import { fileItems, textItems } from "../../../src/visa/isa/template.ts";

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

describe.each(rows.map((row) => [`${row.mnemonic} ${row.text}`, row] as const))("%s", (_, row) => {
  test("its text names the operands that it has, once each", () => {
    expect(inText(row).toSorted()).toEqual(Object.keys(row.operands).toSorted());
  });

  test("its file names operands that it has", () => {
    for (const name of inFile(row)) expect(row.operands).toHaveProperty(name);
  });

  test("it has an execution size exactly where its text has one", () => {
    expect(textItems(row).some((item) => item.kind === "exec")).toBe(row.sizes !== null);
  });

  test("the bits of what shares a field do not overlap", () => {
    for (const item of fileItems(row) ?? []) {
      if (item.kind !== "packed") continue;
      let used = 0;
      for (const part of item.parts) {
        const spec = typeof part === "number" ? null : row.operands[part.operand];
        const values = typeof part === "number" ? [part] : spec?.class === "option" ? Object.values(spec.choices) : [];
        const bits = values.reduce((a, b) => a | b, 0);
        expect(used & bits).toBe(0);
        used |= bits;
      }
    }
  });
});
