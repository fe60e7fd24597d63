import type { Span } from "../source/index.ts";
import type { PtxSymbol } from "./symbols.ts";

// ---- Names, literals, constant expressions (section 4) --------------------------------------------------------------

export interface Name extends Span {
  readonly text: string;
}

/** `value` is the 64-bit pattern (0 to 2^64-1); `unsigned`: has the suffix `U`, or does not fit `.s64`. */
export interface IntegerLiteral extends Span {
  readonly kind: "integer";
  readonly value: bigint;
  readonly unsigned: boolean;
}

/** `bits` is the exact pattern: of binary64 for decimal and `0d` literals, of binary32 for `0f`. */
export interface FloatLiteral extends Span {
  readonly kind: "float";
  readonly width: 32 | 64;
  readonly bits: bigint;
}

export interface NameExpr extends Span {
  readonly kind: "name";
  readonly text: string;
  /** `.x .y .z .w .r .g .b .a` of a vector, `.b0`-`.b3 .h0 .h1` of a video operand; without the dot. */
  readonly component: string | null;
  /** Filled by the binder. */
  symbol: PtxSymbol | null;
}

export interface UnaryExpr extends Span {
  readonly kind: "unary";
  readonly operator: "+" | "-" | "!" | "~" | "(.s64)" | "(.u64)";
  readonly operand: Expression;
}

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

export interface ConditionalExpr extends Span {
  readonly kind: "conditional";
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}

/** Parentheses are kept, so that printing is faithful. */
export interface ParenthesizedExpr extends Span {
  readonly kind: "parenthesized";
  readonly inner: Expression;
}

/**
 * `generic(x)` and the mask `0xff00(x)`, as initializers use them (5.4.4). A mask has the operator "mask" and two argument
 * lists, the mask and what it picks from.
 */
export interface OperatorCall extends Span {
  readonly kind: "operator-call";
  readonly operator: Name;
  readonly argumentLists: readonly (readonly Expression[])[];
}

/** `WARP_SZ` is a name. Nesting is bounded by the parser. */
export type Expression =
  | IntegerLiteral
  | FloatLiteral
  | NameExpr
  | UnaryExpr
  | BinaryExpr
  | ConditionalExpr
  | ParenthesizedExpr
  | OperatorCall;

// ---- Operands (section 6) ---------------------------------------------------------------------------------------------

/** `!p` */
export interface NegatedOperand extends Span {
  readonly kind: "negated";
  readonly operand: Operand;
}

/** `{a, b, _, 4}` */
export interface VectorOperand extends Span {
  readonly kind: "vector";
  readonly elements: readonly Operand[];
}

/** `[a]`, `[a+4]`, `[a, b]`, `[tensor, {x, y}]`; `parts` are what commas separate. */
export interface AddressOperand extends Span {
  readonly kind: "address";
  readonly parts: readonly Operand[];
  /** "unified" of `[a].unified`, without the dot. */
  readonly qualifier: Name | null;
}

/** `a[4]`, `a[r+4]` (6.4.2): the address of an element. Also `[a][b]`, whose base is an address. */
export interface IndexedOperand extends Span {
  readonly kind: "indexed";
  readonly base: NameExpr | AddressOperand;
  readonly index: Operand;
}

/** `p|q` */
export interface PairOperand extends Span {
  readonly kind: "pair";
  readonly first: Operand;
  readonly second: Operand;
}

/** `(a, b)`: argument and result lists of a call. */
export interface ListOperand extends Span {
  readonly kind: "list";
  readonly elements: readonly Operand[];
}

/** `_`: the result is not wanted. */
export interface SinkOperand extends Span {
  readonly kind: "sink";
}

/** A piece of text that no rule takes; a diagnostic says why. */
export interface BadNode extends Span {
  readonly kind: "bad";
}

/** Registers, variables, labels and functions are `NameExpr`; `x+4` is a `BinaryExpr`. */
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

/** Kinds of operands that are no expressions. */
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

export const isExpression = (operand: Operand): operand is Expression => !otherKinds.has(operand.kind);
