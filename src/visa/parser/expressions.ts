import type { Span } from "../../source/index.ts";
import { Token, type TokenKind } from "../lexer.ts";
import { type Cursor, nestingLimit } from "./cursor.ts";

/**
 * Precedence levels of IGC's grammar, which differ from C's: `&` binds weakest, then `^`, then `|`. As a `>` may close
 * a region, expressions in angle brackets begin at `shift`.
 */
const level = {
  conditional: 0,
  and: 1,
  xor: 2,
  or: 3,
  equality: 4,
  relation: 5,
  shift: 6,
  sum: 7,
  product: 8,
} as const;

interface BinaryOperator {
  readonly level: number;
  readonly apply: (a: bigint, b: bigint) => bigint;
}
const int64 = (value: bigint): bigint => BigInt.asIntN(64, value);
const truth = (value: boolean): bigint => (value ? 1n : 0n);

const operators: (BinaryOperator | undefined)[] = [];
for (const [kind, operatorLevel, apply] of [
  [Token.and, level.and, (a, b) => a & b],
  [Token.xor, level.xor, (a, b) => a ^ b],
  [Token.or, level.or, (a, b) => a | b],
  [Token.equal, level.equality, (a, b) => truth(a === b)],
  [Token.notEqual, level.equality, (a, b) => truth(a !== b)],
  [Token.less, level.relation, (a, b) => truth(a < b)],
  [Token.greater, level.relation, (a, b) => truth(a > b)],
  [Token.lessEqual, level.relation, (a, b) => truth(a <= b)],
  [Token.greaterEqual, level.relation, (a, b) => truth(a >= b)],
  [Token.shiftLeft, level.shift, (a, b) => a << (b & 63n)],
  [Token.shiftRight, level.shift, (a, b) => a >> (b & 63n)],
  [Token.shiftRightUnsigned, level.shift, (a, b) => BigInt.asUintN(64, a) >> (b & 63n)],
  [Token.plus, level.sum, (a, b) => a + b],
  [Token.minus, level.sum, (a, b) => a - b],
  [Token.star, level.product, (a, b) => a * b],
  [Token.slash, level.product, (a, b) => a / b],
  [Token.percent, level.product, (a, b) => a % b],
] satisfies readonly (readonly [TokenKind, number, BinaryOperator["apply"]])[]) {
  operators[kind] = { level: operatorLevel, apply };
}

/** Computes a constant expression in 64 bits, as IGC does; 0 in a panic. `inAngles`: a `>` ends it. */
export function constant(p: Cursor, inAngles = false): bigint {
  p.operators = 0;
  return inAngles ? binary(p, level.shift) : conditional(p);
}

/** Computes a constant expression that must be in a range. */
export function count(p: Cursor, from: number, to: number, what: string, inAngles = false): number {
  const simple = plainNumber(p, inAngles);
  const { start } = p;
  const value = simple ?? Number(constant(p, inAngles));
  if (simple !== null) p.advance();
  if (value >= from && value <= to) return value;
  p.fail("visa-number-out-of-range", { start, end: p.previousEnd }, `${what} must be between ${from} and ${to}`);
  return from;
}

/** The most common expression: a number that no operator can follow. Does not advance. */
function plainNumber(p: Cursor, inAngles: boolean): number | null {
  const next = p.lexer.following;
  // , ] ) ; or the end of the line, and > where it closes a region.
  const ends = next === 0x2c || next === 0x5d || next === 0x29 || next === 0x3b || next === 0x0a;
  return ends || (inAngles && next === 0x3e) ? smallInteger(p) : null;
}

/** The number at the cursor if it has few digits, as most have; null for anything else. Does not advance. */
export function smallInteger(p: Cursor): number | null {
  const { text, end } = p;
  if (!p.at(Token.number) || end - p.start > 12) return null;
  let at = p.start;
  const hexadecimal = end - at > 2 && (text.charCodeAt(at + 1) | 0x20) === 0x78 && text.charCodeAt(at) === 0x30;
  if (hexadecimal) at += 2;
  let value = 0;
  for (; at < end; at++) {
    const c = text.charCodeAt(at);
    if (c >= 0x30 && c <= 0x39) value = value * (hexadecimal ? 16 : 10) + c - 0x30;
    else if (hexadecimal && (c | 0x20) >= 0x61 && (c | 0x20) <= 0x66) value = value * 16 + (c | 0x20) - 0x57;
    else return null;
  }
  return value;
}

/** Counts an operator or parenthesis, which bounds the recursion. */
function deeper(p: Cursor): boolean {
  if (++p.operators <= nestingLimit) return true;
  p.fail("visa-nesting-too-deep", p.errorSpan, `expressions nest more than ${nestingLimit} deep`);
  return false;
}

function conditional(p: Cursor): bigint {
  const condition = binary(p, level.and);
  if (!p.at(Token.question) || !deeper(p)) return condition;
  p.advance();
  const then = binary(p, level.and);
  p.expect(Token.colon, "':'");
  const otherwise = conditional(p);
  return condition !== 0n ? then : otherwise;
}

function binary(p: Cursor, minLevel: number): bigint {
  return continued(p, unary(p), minLevel);
}

/** Continues a sum or product after its first operand, in an address: `4*2+1`. */
export function continuedSum(p: Cursor, left: bigint): bigint {
  return continued(p, left, level.sum);
}

function continued(p: Cursor, first: bigint, minLevel: number): bigint {
  let left = first;
  for (;;) {
    const operator = operators[p.kind];
    if (operator === undefined || operator.level < minLevel || !deeper(p)) return left;
    const divides = p.at(Token.slash) || p.at(Token.percent);
    p.advance();
    const { start } = p;
    const right = binary(p, operator.level + 1);
    if (p.panicking) return 0n;
    if (divides && right === 0n) {
      p.fail("visa-division-by-zero", { start, end: p.previousEnd }, "division by zero");
      return 0n;
    }
    left = int64(operator.apply(left, right));
  }
}

/** An operand with its signs, which is also the form of an immediate. */
export function unary(p: Cursor): bigint {
  const { kind } = p;
  if (kind !== Token.minus && kind !== Token.complement && kind !== Token.not) return primary(p);
  if (!deeper(p)) return 0n;
  p.advance();
  const operand = unary(p);
  if (kind === Token.minus) return int64(-operand);
  return kind === Token.complement ? ~operand : truth(operand === 0n);
}

/** A number, a parenthesized expression, or a builtin constant. */
export function primary(p: Cursor): bigint {
  if (p.at(Token.number)) return integer(p);
  if (p.at(Token.leftParen)) {
    if (!deeper(p)) return 0n;
    p.advance();
    const inner = conditional(p);
    p.expect(Token.rightParen, "')'");
    return inner;
  }
  if (p.atWord("%sizeof")) return sizeOf(p);
  if (p.atWord("%DispatchSimd")) return dispatchSimd(p);
  p.unexpected("a number");
  return 0n;
}

function sizeOf(p: Cursor): bigint {
  p.advance();
  const parenthesized = p.accept(Token.leftParen);
  const span: Span = p.span;
  const name = p.name("the name of a variable").text;
  const size = p.panicking ? 0 : p.constants.sizeOf(name);
  if (size === null) {
    p.fail("visa-unknown-constant", span, `no variable '${name}' with a size is declared before this`, {
      help: "%sizeof takes a general or address variable, or GRF",
    });
  }
  if (parenthesized) p.expect(Token.rightParen, "')'");
  return BigInt(size ?? 0);
}

function dispatchSimd(p: Cursor): bigint {
  const simd = p.constants.dispatchSimd;
  if (simd === null) {
    p.fail("visa-unknown-constant", p, "the routine has no attribute SimdSize before this", {
      help: "%DispatchSimd is the value of '.kernel_attr SimdSize='",
    });
  }
  p.advance();
  return BigInt(simd ?? 0);
}

/** Takes an integer of at most 64 bits: decimal or, with 0x, hexadecimal. A leading 0 has no meaning. */
export function integer(p: Cursor): bigint {
  const small = smallInteger(p);
  if (small !== null) {
    p.advance();
    return BigInt(small);
  }
  const { start, end } = p;
  const text = p.token;
  const hexadecimal = /^0[xX]/.test(text);
  const digits = hexadecimal ? text.slice(2) : text;
  const wrong = digits.search(hexadecimal ? /[^0-9a-fA-F]/ : /[^0-9]/);
  if (wrong >= 0 || digits === "") {
    const at = start + text.length - digits.length + wrong;
    const name = hexadecimal ? "hexadecimal" : "decimal";
    const [span, message] =
      digits === ""
        ? [p.span, "the number has no digits"]
        : [{ start: at, end: at + 1 }, `'${digits[wrong]}' is not a ${name} digit`];
    p.fail("visa-malformed-number", span, message);
    return 0n;
  }
  const significant = digits.replace(/^0+(?=.)/, "");
  // Longer texts would make BigInt slow, and cannot fit anyway.
  const value = significant.length > 20 ? 1n << 64n : BigInt(hexadecimal ? `0x${significant}` : significant);
  p.advance();
  if (value >> 64n === 0n) return value;
  p.fail("visa-number-out-of-range", { start, end }, "the number does not fit 64 bits");
  return 0n;
}
