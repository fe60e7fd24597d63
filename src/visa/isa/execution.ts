import type { Expr } from "../../semantics/index.ts";
import type { MemoryAction } from "./memory-action.ts";

/**
 * How an instruction moves control. A `branch` is a jump of all lanes or of each by itself; `call` and `return` are of
 * subroutines (`return` also ends a kernel), `file-call` and `file-return` of functions. `address` moves none: it takes the
 * address of a function, which an indirect call goes to.
 */
export type ControlKind =
  | "branch"
  | "branch-indexed"
  | "call"
  | "return"
  | "file-call"
  | "file-call-indirect"
  | "file-return"
  | "address";

/**
 * What executing an instruction means. `special` instructions are known to the lowering by their names; rows that are not
 * modelled say why.
 */
export type Execution =
  | { readonly kind: "flow"; readonly control: ControlKind }
  | { readonly kind: "memory"; readonly action: MemoryAction }
  | { readonly kind: "none"; readonly reason: string }
  /** Channel by channel, from sources in the execution type to a result that is converted to the destination's type. */
  | { readonly kind: "compute"; readonly integer?: IntegerSemantics; readonly float?: FloatSemantics }
  /** Computing whose operands or results are not simply those of a channel: see `lower/`. */
  | { readonly kind: "special" };

/**
 * How integer sources are promoted. `low`: the low bits of the result depend on the low bits of the sources alone. `order`:
 * the sources must keep their values, and no intermediate result is larger. `exact`: 64 bits must hold intermediate results.
 * `word`: an operation on 32 bits.
 */
export type IntegerDomain = "low" | "order" | "exact" | "word";

/** What a row may need to know of its operands. */
interface IntegerTerms {
  /** Whether the promoted sources are signed. */
  readonly signed: boolean;
  /** Bits of an element of src0 and of the destination. */
  readonly sourceBits: number;
  readonly resultBits: number;
  readonly signedResult: boolean;
  /** src0 + src1, with nothing lost where 64-bit sources saturate. */
  readonly sum: () => Expr;
  /** Of integers that may be intermediate results; clamped to 64 bits where the instruction saturates. */
  readonly product: (a: Expr, b: Expr) => Expr;
  readonly plus: (a: Expr, b: Expr) => Expr;
}

export interface IntegerSemantics {
  readonly domain: IntegerDomain;
  /** src1 is a count: its low 5 bits (6 where the result has 64) as an `i32`. */
  readonly shifts?: true;
  /** Sources (but a count) and result are all `i32` or all `i64`; or predicates, where the row allows them. */
  readonly sem: (terms: IntegerTerms, ...sources: Expr[]) => Expr;
}

/** Arithmetic of the execution type, rounded and with subnormal numbers as %cr0 says. */
export interface FloatArithmetic {
  readonly ty: "f32" | "f64";
  add(a: Expr, b: Expr): Expr;
  sub(a: Expr, b: Expr): Expr;
  mul(a: Expr, b: Expr): Expr;
  /** a * b + c, rounded once. */
  fma(a: Expr, b: Expr, c: Expr): Expr;
  div(a: Expr, b: Expr): Expr;
  sqrt(a: Expr): Expr;
  /** One NaN gives the other operand. */
  min(a: Expr, b: Expr): Expr;
  max(a: Expr, b: Expr): Expr;
  constant(value: number): Expr;
  /** To an integral number: to nearest even, towards zero, down, up. */
  integral(direction: "rni" | "rzi" | "rmi" | "rpi", a: Expr): Expr;
  /** A function of binary32 operands, as accurate as `numeric/` has it. */
  approximate(name: "sin" | "cos" | "lg2" | "ex2" | "rsqrt" | "tanh" | "sigmoid" | "pow", ...a: Expr[]): Expr;
}

export type FloatSemantics = (float: FloatArithmetic, ...sources: Expr[]) => Expr;

export const special: Execution = { kind: "special" };
