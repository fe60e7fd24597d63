import { isSink, Token, type TokenKind } from "../lexer.ts";
import type { BadNode } from "../tree/leaves.ts";
import type { BinaryExpr, Expression, NameExpr, UnaryExpr } from "../tree/nodes.ts";
import { bad, type Cursor, nestingLimit } from "./cursor.ts";
import { numberLiteral } from "./literals.ts";

/** A constant expression (4.5.4) or an operand that begins like one; a `BadNode` in a panic. */
export type Parsed = Expression | BadNode;

interface BinaryOperator {
  readonly text: BinaryExpr["operator"];
  /** Higher binds tighter, in the order of table 4. */
  readonly level: number;
}

const levels: readonly (readonly (readonly [TokenKind, BinaryExpr["operator"]])[])[] = [
  [[Token.logicalOr, "||"]],
  [[Token.logicalAnd, "&&"]],
  [[Token.or, "|"]],
  [[Token.xor, "^"]],
  [[Token.and, "&"]],
  [
    [Token.equal, "=="],
    [Token.notEqual, "!="],
  ],
  [
    [Token.less, "<"],
    [Token.greater, ">"],
    [Token.lessEqual, "<="],
    [Token.greaterEqual, ">="],
  ],
  [
    [Token.shiftLeft, "<<"],
    [Token.shiftRight, ">>"],
  ],
  [
    [Token.plus, "+"],
    [Token.minus, "-"],
  ],
  [
    [Token.star, "*"],
    [Token.slash, "/"],
    [Token.percent, "%"],
  ],
];
const binaryOperators: (BinaryOperator | undefined)[] = [];
for (const [level, operators] of levels.entries()) {
  for (const [kind, text] of operators) binaryOperators[kind] = { text, level };
}

const unaryOperators: ReadonlyMap<TokenKind, UnaryExpr["operator"]> = new Map([
  [Token.plus, "+"],
  [Token.minus, "-"],
  [Token.not, "!"],
  [Token.complement, "~"],
]);

export function expression(p: Cursor): Parsed {
  p.operators = 0;
  return conditional(p);
}

/** Parses an expression; null if it is malformed. */
export function goodExpression(p: Cursor): Expression | null {
  const parsed = expression(p);
  return parsed.kind === "bad" ? null : parsed;
}

/** Bounds the height of the tree, and with it the recursion of the parser and of everything that traverses the tree. */
function deeper(p: Cursor): boolean {
  if (++p.operators <= nestingLimit) return true;
  p.tooDeep("expressions");
  return false;
}

function conditional(p: Cursor): Parsed {
  const condition = binary(p, 0);
  if (!p.at(Token.question) || condition.kind === "bad" || !deeper(p)) return condition;
  p.advance();
  const then = conditional(p);
  p.expect(Token.colon, "':'");
  const otherwise = conditional(p);
  if (then.kind === "bad" || otherwise.kind === "bad") return bad(condition.start, otherwise.end);
  return { kind: "conditional", start: condition.start, end: otherwise.end, condition, then, otherwise };
}

function binary(p: Cursor, level: number): Parsed {
  let left = unary(p);
  for (;;) {
    const operator = binaryOperators[p.kind];
    if (operator === undefined || operator.level < level || left.kind === "bad" || !deeper(p)) return left;
    p.advance();
    const right = binary(p, operator.level + 1);
    if (right.kind === "bad") return bad(left.start, right.end);
    left = { kind: "binary", start: left.start, end: right.end, operator: operator.text, left, right };
  }
}

function unary(p: Cursor): Parsed {
  const operator = unaryOperators.get(p.kind);
  if (operator === undefined) return primary(p);
  if (!deeper(p)) return bad(p.start, p.start);
  const { start } = p;
  p.advance();
  return applied(operator, start, unary(p));
}

const applied = (operator: UnaryExpr["operator"], start: number, operand: Parsed): Parsed =>
  operand.kind === "bad" ? operand : { kind: "unary", start, end: operand.end, operator, operand };

function primary(p: Cursor): Parsed {
  switch (p.kind) {
    case Token.name:
      return p.inInitializer ? initializerName(p) : nameExpression(p);
    case Token.number: {
      const literal = numberLiteral(p);
      if (!p.inInitializer || !p.at(Token.leftParen) || literal.kind !== "integer") return literal;
      const { start, end } = literal;
      return operatorCall(p, { text: "mask", start, end }, [[literal]]);
    }
    case Token.leftParen:
      return parenthesized(p);
    case Token.directive:
      if (p.inSection) return nameExpression(p);
  }
  p.unexpected("an operand");
  return bad(p.start, p.start);
}

/** A name with an optional component: `a`, `%tid.x`, `v.b0`. */
export function nameExpression(p: Cursor): NameExpr {
  const { start } = p;
  const text = p.token;
  p.advance();
  if (!p.at(Token.directive) || p.inSection || p.first) {
    return { kind: "name", start, end: p.previousEnd, text, component: null, symbol: null };
  }
  const component = p.undotted;
  p.advance();
  return { kind: "name", start, end: p.previousEnd, text, component, symbol: null };
}

function initializerName(p: Cursor): Parsed {
  const name = nameExpression(p);
  if (!p.at(Token.leftParen)) return name;
  return operatorCall(p, { text: name.text, start: name.start, end: name.end }, []);
}

function operatorCall(
  p: Cursor,
  operator: { readonly text: string; readonly start: number; readonly end: number },
  before: readonly (readonly Expression[])[],
): Parsed {
  if (!deeper(p)) return bad(operator.start, operator.end);
  p.advance();
  const argument = conditional(p);
  p.expect(Token.rightParen, "')'");
  if (argument.kind === "bad") return argument;
  return {
    kind: "operator-call",
    start: operator.start,
    end: p.previousEnd,
    operator,
    argumentLists: [...before, [argument]],
  };
}

function parenthesized(p: Cursor): Parsed {
  const { start } = p;
  if (!deeper(p)) return bad(start, start);
  p.advance();
  if (p.at(Token.directive) && !p.inSection) {
    const type = p.token;
    if (type !== ".s64" && type !== ".u64") p.unexpected("'.s64' or '.u64'");
    p.accept(Token.directive);
    p.expect(Token.rightParen, "')'");
    return applied(`(${type as ".s64" | ".u64"})`, start, unary(p));
  }
  const inner = conditional(p);
  p.expect(Token.rightParen, "')'");
  if (inner.kind === "bad") return bad(start, p.previousEnd);
  return { kind: "parenthesized", start, end: p.previousEnd, inner };
}

export const isSinkName = (parsed: Parsed): boolean =>
  parsed.kind === "name" && isSink(parsed.text) && parsed.component === null;
