import type { Span } from "../../source/index.ts";
import type { BinaryExpr, Expression } from "../tree/nodes.ts";

/** An integer constant: a value of type `.s64`, or `.u64` if `unsigned` (4.5.1). */
interface IntegerConstant {
  readonly kind: "integer";
  readonly value: bigint;
  readonly unsigned: boolean;
}

/** A floating-point constant (4.5.2). `bits` is the binary64 pattern, or the binary32 pattern of a `0f` literal. */
interface FloatConstant {
  readonly kind: "float";
  readonly width: 32 | 64;
  readonly value: number;
  readonly bits: bigint;
}

export type Constant = IntegerConstant | FloatConstant;

/** Receives an error in a constant expression. */
export type ReportConstant = (span: Span, message: string, help?: string) => void;

const silent: ReportConstant = () => {};
const view = new DataView(new ArrayBuffer(8));

const float = (value: number): FloatConstant => {
  view.setFloat64(0, value);
  return { kind: "float", width: 64, value, bits: view.getBigUint64(0) };
};

const floatLiteral = (width: 32 | 64, bits: bigint): FloatConstant => {
  view.setBigUint64(0, bits);
  return { kind: "float", width, value: width === 32 ? view.getFloat32(4) : view.getFloat64(0), bits };
};

/** An integer wrapped to 64 bits, which also bounds the values of long expressions. */
const integer = (value: bigint, unsigned: boolean): IntegerConstant => ({
  kind: "integer",
  value: unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value),
  unsigned,
});

const truth = (value: boolean): IntegerConstant => integer(value ? 1n : 0n, false);
const bitsOf = (constant: IntegerConstant): bigint => BigInt.asUintN(64, constant.value);

/**
 * The value of a constant expression by the typing rules of 4.5.4 to 4.5.6, or null if it has none: the reason goes to
 * `report`, except for unknown names, which the binder has reported.
 */
export function evaluateConstant(expr: Expression, report: ReportConstant = silent): Constant | null {
  switch (expr.kind) {
    case "integer":
      return integer(expr.value, expr.unsigned);
    case "float":
      return floatLiteral(expr.width, expr.bits);
    case "parenthesized":
      return evaluateConstant(expr.inner, report);
    case "name":
      if (expr.symbol?.kind === "constant") return integer(expr.symbol.value, false);
      if (expr.symbol !== null) report(expr, `'${expr.text}' is not a constant`);
      return null;
    case "unary": {
      const operand = evaluateConstant(expr.operand, report);
      return operand && unary(expr.operator, operand, expr, report);
    }
    case "binary": {
      const left = evaluateConstant(expr.left, report);
      const right = evaluateConstant(expr.right, report);
      return left && right && binary(expr, left, right, report);
    }
    case "conditional": {
      const condition = evaluateConstant(expr.condition, report);
      const then = evaluateConstant(expr.then, report);
      const otherwise = evaluateConstant(expr.otherwise, report);
      if (!condition || !then || !otherwise) return null;
      if (condition.kind === "float") return notInteger(expr.condition, "the condition of `?:`", report);
      if (then.kind === "integer" && otherwise.kind === "integer") {
        return integer(condition.value !== 0n ? then.value : otherwise.value, then.unsigned || otherwise.unsigned);
      }
      if (then.kind !== otherwise.kind) return mixed(expr, report);
      return condition.value !== 0n ? then : otherwise;
    }
    case "operator-call":
      report(expr, `'${expr.operator.text}(...)' is an address, not a constant`);
      return null;
  }
}

function notInteger(span: Span, what: string, report: ReportConstant): null {
  report(span, `${what} takes integers, but this is floating-point`);
  return null;
}

/** Reports a `0f` literal within an expression: "Such values ... may not be used in constant expressions" (4.5.2). */
function exact(span: Span, report: ReportConstant): null {
  report(span, "a 0f constant cannot be part of an expression", "write it as a decimal or 0d constant");
  return null;
}

function mixed(span: Span, report: ReportConstant): null {
  report(
    span,
    "integer and floating-point constants cannot be mixed",
    "there are no casts between them: write `1.0` instead of 1",
  );
  return null;
}

function unary(operator: string, operand: Constant, span: Span, report: ReportConstant): Constant | null {
  if (operand.kind === "float") {
    if (operand.width === 32) return exact(span, report);
    if (operator === "+") return operand;
    if (operator !== "-") return notInteger(span, `'${operator}'`, report);
    return float(-operand.value);
  }
  const { value, unsigned } = operand;
  switch (operator) {
    case "+":
      return operand;
    case "-":
      return integer(-value, unsigned);
    case "!":
      return truth(value === 0n);
    case "~":
      return integer(~value, true);
    default:
      return integer(value, operator === "(.u64)");
  }
}

type Comparison = "<" | "<=" | ">" | ">=" | "==" | "!=";

const comparisons: { readonly [O in Comparison]: <T extends number | bigint>(a: T, b: T) => boolean } = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

const isComparison = (operator: string): operator is Comparison => Object.hasOwn(comparisons, operator);

function binary(node: BinaryExpr, left: Constant, right: Constant, report: ReportConstant): Constant | null {
  if (left.kind === "integer" && right.kind === "integer") return integerBinary(node, left, right, report);
  if (left.kind === "integer" || right.kind === "integer") return mixed(node, report);
  if (left.width === 32 || right.width === 32) return exact(node, report);
  const [a, b] = [left.value, right.value];
  const { operator } = node;
  if (isComparison(operator)) return truth(comparisons[operator](a, b));
  switch (operator) {
    case "+":
      return float(a + b);
    case "-":
      return float(a - b);
    case "*":
      return float(a * b);
    case "/":
      return float(a / b);
    default:
      return notInteger(node, `'${operator}'`, report);
  }
}

/** The number of bits to shift by. The manual says nothing of more than 63; ptxas takes the lowest six bits. */
const shiftOf = (amount: IntegerConstant): bigint => bitsOf(amount) & 63n;

function integerBinary(
  node: BinaryExpr,
  left: IntegerConstant,
  right: IntegerConstant,
  report: ReportConstant,
): IntegerConstant | null {
  // The usual arithmetic conversions: both become unsigned if one is.
  const unsigned = left.unsigned || right.unsigned;
  const a = unsigned ? bitsOf(left) : left.value;
  const b = unsigned ? bitsOf(right) : right.value;
  const { operator } = node;
  if ((operator === "/" || operator === "%") && b === 0n) {
    report(node, "division by zero in a constant expression");
    return null;
  }
  if (isComparison(operator)) return truth(comparisons[operator](a, b));
  switch (operator) {
    case "+":
      return integer(a + b, unsigned);
    case "-":
      return integer(a - b, unsigned);
    case "*":
      return integer(a * b, unsigned);
    case "/":
      return integer(a / b, unsigned);
    case "%":
      // The operands are unsigned, but the result is `.s64` (table 5).
      return integer(bitsOf(left) % bitsOf(right), false);
    case "<<":
      return integer(left.value << shiftOf(right), left.unsigned);
    case ">>":
      return integer(left.value >> shiftOf(right), left.unsigned);
    case "&":
      return integer(a & b, unsigned);
    case "|":
      return integer(a | b, unsigned);
    case "^":
      return integer(a ^ b, unsigned);
    case "&&":
      return truth(a !== 0n && b !== 0n);
    case "||":
      return truth(a !== 0n || b !== 0n);
  }
}
