import { Token, type TokenKind } from "../lexer.ts";
import type { AddressOperand, ListOperand, Name, NameExpr, Operand, VectorOperand } from "../tree.ts";
import { bad, type Cursor, nestingLimit } from "./cursor.ts";
import { expression, isSinkName, type Parsed } from "./expressions.ts";

/** One operand of an instruction (chapter 6). `lists`: an opening parenthesis begins a list, as in a call. */
export function operand(p: Cursor, lists: boolean): Operand {
  switch (p.kind) {
    case Token.leftBrace:
      return paired(p, vector(p));
    case Token.leftBracket:
      return indexed(p, address(p));
    case Token.leftParen:
      if (lists) return list(p);
  }
  const parsed = expression(p);
  if (parsed.kind === "name") {
    if (isSinkName(parsed)) return paired(p, { kind: "sink", start: parsed.start, end: parsed.end });
    return p.at(Token.leftBracket) ? indexed(p, parsed) : parsed;
  }
  return asOperand(parsed);
}

/** Reads `p|q` and `!p`, which look like constant expressions, as what they are where names are concerned. */
function asOperand(parsed: Parsed): Operand {
  const { start, end } = parsed;
  if (parsed.kind === "unary" && parsed.operator === "!" && parsed.operand.kind === "name") {
    return { kind: "negated", start, end, operand: parsed.operand };
  }
  if (parsed.kind !== "binary" || parsed.operator !== "|") return parsed;
  const { left, right } = parsed;
  if (left.kind !== "name" || right.kind !== "name") return parsed;
  return { kind: "pair", start, end, first: half(left), second: half(right) };
}

const half = (name: NameExpr): Operand =>
  isSinkName(name) ? { kind: "sink", start: name.start, end: name.end } : name;

/** The second half of a pair whose first half is no name. */
function paired(p: Cursor, first: Operand): Operand {
  if (!p.accept(Token.or)) return first;
  const second = operand(p, false);
  return { kind: "pair", start: first.start, end: second.end, first, second };
}

const vector = (p: Cursor): VectorOperand => bracketed(p, "vector", Token.rightBrace, "'}'", false);
const list = (p: Cursor): ListOperand => bracketed(p, "list", Token.rightParen, "')'", true);

function bracketed<Kind extends "vector" | "list">(
  p: Cursor,
  kind: Kind,
  close: TokenKind,
  shown: string,
  empty: boolean,
) {
  const { start } = p;
  const elements = parts(p, close, shown, empty);
  return { kind, start, end: p.previousEnd, elements };
}

/** Operands between brackets; stands on the opening one. */
function parts(p: Cursor, close: TokenKind, shown: string, empty: boolean): readonly Operand[] {
  const open = { start: p.start, end: p.end };
  if (p.brackets >= nestingLimit) {
    p.tooDeep("operands");
    return [];
  }
  p.brackets++;
  p.advance();
  const elements: Operand[] = [];
  if (!(empty && p.at(close))) {
    do elements.push(operand(p, false));
    while (p.accept(Token.comma));
  }
  p.brackets--;
  if (p.at(close)) p.advance();
  else {
    const notes = [{ message: "opened here", source: p.source, span: open }];
    p.fail("ptx-unclosed-bracket", p.spot, `expected ',' or ${shown}, found ${p.describe()}`, { notes });
  }
  return elements;
}

function address(p: Cursor): AddressOperand {
  const { start } = p;
  const inside = parts(p, Token.rightBracket, "']'", false);
  return { kind: "address", start, parts: inside, qualifier: qualifier(p), end: p.previousEnd };
}

function qualifier(p: Cursor): Name | null {
  if (!p.at(Token.directive) || p.first) return null;
  const name = { start: p.start + 1, end: p.end, text: p.text.slice(p.start + 1, p.end) };
  p.advance();
  return name;
}

/** What follows `a` in `a[4]` and `[a]` in `[a][4]`, or nothing. */
function indexed(p: Cursor, base: NameExpr | AddressOperand): Operand {
  if (!p.at(Token.leftBracket)) return base;
  const { start } = p;
  const [index, extra] = parts(p, Token.rightBracket, "']'", false);
  if (extra) p.fail("ptx-unexpected-token", extra, "an element has one index");
  return { kind: "indexed", start: base.start, end: p.previousEnd, base, index: index ?? bad(start, start) };
}
