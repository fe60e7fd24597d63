import type { OperandSpec, Row, VectorForm } from "../isa/row.ts";
import { Token } from "../lexer.ts";
import type { Name, NameListOperand, NameOperand, Operand, OperandList } from "../tree.ts";
import type { Cursor } from "./cursor.ts";
import { stringLiteral } from "./literals.ts";
import { lscAddress, lscData } from "./lsc.ts";
import { optionOperand } from "./options.ts";
import { numberOperand, rawOperand } from "./raw-operand.ts";
import { destination, source } from "./vectors.ts";

/** Reads an operand of the kind that the row requires. */
export function operand(p: Cursor, row: Row, name: string): Operand {
  const spec = row.operands[name]!;
  switch (spec.class) {
    case "vector":
      return spec.role === "dst" ? destination(p, spec) : source(p, spec);
    case "raw":
      return rawOperand(p, spec.bare === true);
    case "list":
      return operandList(p);
    case "predicate":
      return nameOperand(p, "a predicate variable");
    case "surface":
      return nameOperand(p, "a surface");
    case "sampler":
      return nameOperand(p, "a sampler");
    case "variable":
      return nameOperand(p, "a variable");
    case "kernel":
      return nameOrString(p, "the name of a kernel");
    case "label":
      return nameOrString(p, spec.of === "block" ? "a label" : "the label of a subroutine");
    case "routine":
      return nameOrString(p, "the name of a function");
    case "labels":
      return labels(p);
    case "string": {
      const { start } = p;
      if (!p.at(Token.string)) p.unexpected("a string");
      const text = p.panicking ? "" : stringLiteral(p);
      return { kind: "string", start, end: p.previousEnd, text };
    }
    case "number":
      return numberOperand(p, inWords(name), spec.from, spec.to);
    case "option":
      return optionOperand(p, spec);
    case "lsc-address":
      return lscAddress(p, row);
    case "lsc-data":
      return lscData(p, spec.shape);
  }
}

function nameOperand(p: Cursor, wanted: string): NameOperand {
  const name = p.name(wanted);
  return { kind: "name", start: name.start, end: name.end, name };
}

function nameOrString(p: Cursor, wanted: string): NameOperand {
  const name = nameOrQuoted(p, wanted);
  return { kind: "name", start: name.start, end: name.end, name };
}

/** Takes a name, with or without quotes. */
export function nameOrQuoted(p: Cursor, wanted: string): Name {
  if (!p.at(Token.string)) return p.name(wanted);
  const { start, end } = p;
  return { text: stringLiteral(p), start, end };
}

/** `(l0, l1)`. */
function labels(p: Cursor): NameListOperand {
  const { start } = p;
  const names: Name[] = [];
  if (p.expect(Token.leftParen, "'(' and the labels")) {
    do names.push(nameOrQuoted(p, "a label"));
    while (p.accept(Token.comma));
    p.expect(Token.rightParen, "',' or ')'");
  }
  return { kind: "names", start, end: p.previousEnd, names };
}

/** The name of an operand in words: "argument size" for `argSize`. */
const inWords = (name: string): string =>
  name.replace(/^arg(?=[A-Z])/, "argument").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const listed: OperandSpec & { class: "vector" } = {
  class: "vector",
  role: "src",
  forms: ["general", "immediate"] satisfies VectorForm[],
  types: [],
};

/** All remaining operands: raw and vector operands. */
function operandList(p: Cursor): OperandList {
  const { start } = p;
  const items: OperandList["items"][number][] = [];
  while (!p.atEnd && !p.panicking) {
    const raw = p.at(Token.name) && p.lexer.following === 0x2e;
    const item = raw ? rawOperand(p, false) : source(p, listed);
    if (item.kind !== "name") items.push(item);
  }
  return { kind: "list", start, end: Math.max(start, p.previousEnd), items };
}
