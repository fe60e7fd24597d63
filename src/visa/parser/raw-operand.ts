import { Token } from "../lexer.ts";
import type { NumberOperand, RawOperand } from "../tree.ts";
import type { Cursor } from "./cursor.ts";
import { count, integer } from "./expressions.ts";

/** A plain number. It cannot have a sign: a number with one is an immediate. */
export function numberOperand(p: Cursor, what: string, from: number, to: number): NumberOperand {
  const { start, end } = p;
  const wanted = `the ${what}, a number from ${from} to ${to}`;
  let value = from;
  if (p.at(Token.number)) {
    value = Number(integer(p));
    if (value < from || value > to) {
      p.fail("visa-number-out-of-range", { start, end }, `expected ${wanted}, found ${p.text.slice(start, end)}`);
    }
  } else p.unexpected(wanted);
  return { kind: "number", start, end: p.previousEnd, value };
}

/** `V.32`, `V.(8*4)`; `bare`: the offset may be left out. */
export function rawOperand(p: Cursor, bare: boolean): RawOperand {
  const { start } = p;
  const variable = p.name("a variable");
  let offset = 0;
  if (p.at(Token.dot) || !bare) {
    p.expect(Token.dot, "'.' and an offset in bytes");
    // Expressions are in parentheses, because an operator after a number may be part of an address.
    offset = p.at(Token.leftParen)
      ? count(p, 0, 0x1_0000, "the offset")
      : numberOperand(p, "offset", 0, 0x1_0000).value;
  }
  return { kind: "raw", start, end: p.previousEnd, variable, offset };
}
