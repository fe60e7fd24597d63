import type { Span } from "../source/index.ts";
import type { PtxSymbol } from "./symbols.ts";

// ---- Names, literals, constant expressions (section 4) --------------------------------------------------------------

/** A word as it stands in the source. */
export interface Name extends Span {
  readonly text: string;
}

/**
 * An integer literal (4.5.1). `value` is the 64-bit pattern, 0 to 2^64-1; `unsigned`: has the suffix `U` or does not
 * fit in `.s64`.
 */
export interface IntegerLiteral extends Span {
  readonly kind: "integer";
  readonly value: bigint;
  readonly unsigned: boolean;
}

/**
 * A floating-point literal (4.5.2). `bits` is the exact pattern: binary64 for decimal and `0d` literals, binary32 for
 * `0f`.
 */
export interface FloatLiteral extends Span {
  readonly kind: "float";
  readonly width: 32 | 64;
  readonly bits: bigint;
}

/** A use of a name: register, variable, parameter, function, label or constant. */
export interface NameExpr extends Span {
  readonly kind: "name";
  readonly text: string;
  /**
   * `x y z w r g b a` of a vector, `b0` to `b3`, `h0` and `h1` of a video instruction's operand; null if none is
   * selected.
   */
  readonly component: string | null;
  /** The meaning of the name, set by `checkPtx`; null before, and if the name is unknown. */
  symbol: PtxSymbol | null;
}

/** A prefix operator or a cast in a constant expression (4.5.4). */
export interface UnaryExpr extends Span {
  readonly kind: "unary";
  readonly operator: "+" | "-" | "!" | "~" | "(.s64)" | "(.u64)";
  readonly operand: Expression;
}

/** A binary operator in a constant expression (4.5.4), or `name+offset` in an operand. */
export interface BinaryExpr extends Span {
  readonly kind: "binary";
  readonly operator:
    | "*"
    | "/"
    | "%"
    | "+"
    | "-"
    | "<<"
    | ">>"
    | "<"
    | ">"
    | "<="
    | ">="
    | "=="
    | "!="
    | "&"
    | "^"
    | "|"
    | "&&"
    | "||";
  readonly left: Expression;
  readonly right: Expression;
}

/** `condition ? then : otherwise` (4.5.4) */
export interface ConditionalExpr extends Span {
  readonly kind: "conditional";
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}

/** `(inner)`: parentheses are kept so that printing reproduces them. */
export interface ParenthesizedExpr extends Span {
  readonly kind: "parenthesized";
  readonly inner: Expression;
}

/**
 * `generic(x)` and the mask `0xff00(x)` in initializers (5.4.4). A mask has the operator "mask" and two argument lists:
 * the mask, and the address that it picks bytes from.
 */
export interface OperatorCall extends Span {
  readonly kind: "operator-call";
  readonly operator: Name;
  readonly argumentLists: readonly (readonly Expression[])[];
}

/** A constant expression (4.5) or an operand written like one. `WARP_SZ` is a name. The parser bounds the nesting. */
export type Expression =
  | IntegerLiteral
  | FloatLiteral
  | NameExpr
  | UnaryExpr
  | BinaryExpr
  | ConditionalExpr
  | ParenthesizedExpr
  | OperatorCall;

// ---- Operands (section 6) ------------------------------------------------------------------------------------------

/** `!p`: a negated predicate. */
export interface NegatedOperand extends Span {
  readonly kind: "negated";
  readonly operand: Operand;
}

/** `{a, b, _, 4}` */
export interface VectorOperand extends Span {
  readonly kind: "vector";
  readonly elements: readonly Operand[];
}

/** `[a]`, `[a+4]`, `[a, b]`, `[tensor, {x, y}]`; `parts` are the pieces between commas. */
export interface AddressOperand extends Span {
  readonly kind: "address";
  readonly parts: readonly Operand[];
  /** "unified" of `[a].unified`, without the dot; null if there is none. */
  readonly qualifier: Name | null;
}

/** `a[4]`, `a[r+4]` (6.4.2): the address of an element. Also `[a][b]`, whose base is an address. */
export interface IndexedOperand extends Span {
  readonly kind: "indexed";
  readonly base: NameExpr | AddressOperand;
  readonly index: Operand;
}

/** `p|q`: two results, as of `setp`. */
export interface PairOperand extends Span {
  readonly kind: "pair";
  readonly first: Operand;
  readonly second: Operand;
}

/** `(a, b)`: the argument or result list of a call. */
export interface ListOperand extends Span {
  readonly kind: "list";
  readonly elements: readonly Operand[];
}

/** `_`: a result that is discarded. */
export interface SinkOperand extends Span {
  readonly kind: "sink";
}

/** A piece of text that could not be parsed; a diagnostic says why. */
export interface BadNode extends Span {
  readonly kind: "bad";
}

/** An operand of an instruction. Registers, variables, labels and functions are `NameExpr`; `x+4` is a `BinaryExpr`. */
export type Operand =
  | Expression
  | NegatedOperand
  | VectorOperand
  | AddressOperand
  | IndexedOperand
  | PairOperand
  | ListOperand
  | SinkOperand
  | BadNode;

/** The kinds of operands that are not expressions. */
const otherKinds: ReadonlySet<Operand["kind"]> = new Set([
  "negated",
  "vector",
  "address",
  "indexed",
  "pair",
  "list",
  "sink",
  "bad",
] as const satisfies readonly Exclude<Operand, Expression>["kind"][]);

/** Whether an operand is an expression: a literal, a name, or operators on these. */
export const isExpression = (operand: Operand): operand is Expression => !otherKinds.has(operand.kind);
