import { Token, type TokenKind } from "../lexer.ts";
import type { AddressOperand, ListOperand, NameExpr, Operand, VectorOperand } from "../tree/nodes.ts";
import type { Name } from "../tree/leaves.ts";
import { bad, type Cursor, nestingLimit } from "./cursor.ts";
import { expression, isSinkName, type Parsed } from "./expressions.ts";

/** Parses one operand of an instruction (chapter 6). `lists`: an opening parenthesis begins a list, as in a call. */
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
  return parsed.kind === "name" && p.at(Token.leftBracket) ? indexed(p, parsed) : asOperand(parsed);
}

/** Turns the expressions `_`, `p|q` and `!p` on names into the operands that they are. */
function asOperand(parsed: Parsed): Operand {
  const { start, end } = parsed;
  if (isSinkName(parsed)) return { kind: "sink", start, end };
  if (parsed.kind === "unary" && parsed.operator === "!" && parsed.operand.kind === "name") {
    return { kind: "negated", start, end, operand: parsed.operand };
  }
  if (parsed.kind !== "binary" || parsed.operator !== "|") return parsed;
  const { left, right } = parsed;
  if (left.kind !== "name" || right.kind !== "name") return parsed;
  return { kind: "pair", start, end, first: asOperand(left), second: asOperand(right) };
}

/** Parses the second half of a pair whose first half is a vector; returns `first` if there is none. */
function paired(p: Cursor, first: VectorOperand): Operand {
  if (!p.accept(Token.or)) return first;
  const second = p.at(Token.leftBrace) ? vector(p) : asOperand(expression(p));
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

/** Parses operands between brackets; the cursor is at the opening one. */
function parts(p: Cursor, close: TokenKind, shown: string, empty: boolean): readonly Operand[] {
  const open = { start: p.start, end: p.end };
  if (p.brackets >= nestingLimit) {
    p.tooDeep("operands");
    return [];
  }
  p.brackets++;
  if (close === Token.rightBrace) p.braces++;
  p.advance();
  const elements = empty && p.at(close) ? [] : [operand(p, false)];
  if (elements.length > 0) while (p.accept(Token.comma)) elements.push(operand(p, false));
  p.brackets--;
  if (p.at(close)) {
    if (close === Token.rightBrace) p.braces--;
    p.advance();
  } else {
    p.unclosed(`',' or ${shown}`, open);
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
  const name = { start: p.start + 1, end: p.end, text: p.undotted };
  p.advance();
  return name;
}

/** Parses the index of `a[4]` or `[a][4]`; returns `base` if there is none. */
function indexed(p: Cursor, base: NameExpr | AddressOperand): Operand {
  if (!p.at(Token.leftBracket)) return base;
  const { start } = p;
  const [index, extra] = parts(p, Token.rightBracket, "']'", false);
  if (extra) p.fail("ptx-unexpected-token", extra, "an element has one index");
  return { kind: "indexed", start: base.start, end: p.previousEnd, base, index: index ?? bad(start, start) };
}
