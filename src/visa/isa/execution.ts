import type { AtomicFunction } from "../../ir/index.ts";
import type { Expr } from "../../semantics/index.ts";
import type { MemoryAction } from "./memory-action.ts";
import type { SamplerParameter } from "./sampler-parameters.ts";

/**
 * How an instruction moves control. A `branch` is a jump of all lanes or of each by itself; `call` and `return` are of
 * subroutines (`return` also ends a kernel), `file-call` and `file-return` of functions. `address` moves none: it takes
 * the address of a function, to which an indirect call goes.
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
 * The meaning of executing an instruction. `special` instructions are lowered by name; rows that are not modelled
 * (`none`) give the reason.
 */
export type Execution =
  | { readonly kind: "flow"; readonly control: ControlKind }
  | { readonly kind: "memory"; readonly action: MemoryAction }
  | { readonly kind: "none"; readonly reason: string }
  /**
   * Reads or writes texels of an image. `parameters`: those of a message to the sampler, in order; `fromXe2`: those
   * that it has from Xe2 on instead, if they are floats of 32 bits.
   */
  | {
      readonly kind: "image";
      readonly parameters?: readonly SamplerParameter[];
      readonly fromXe2?: readonly SamplerParameter[];
      readonly atomic?: AtomicFunction;
    }
  /**
   * Works channel by channel: sources in the execution type give a result, which is converted to the destination's
   * type.
   */
  | { readonly kind: "compute"; readonly integer?: IntegerSemantics; readonly float?: FloatSemantics }
  /** A computation whose operands or results are not simply one per channel: see `lower/`. */
  | { readonly kind: "special" };

/**
 * How integer sources are promoted. `low`: the low bits of the result depend only on the low bits of the sources.
 * `order`: the sources must keep their values, and no intermediate result is larger. `exact`: intermediate results must
 * fit in 64 bits. `word`: a 32-bit operation.
 */
export type IntegerDomain = "low" | "order" | "exact" | "word";

/** Facts about its operands that a row may need to know. */
export interface IntegerTerms {
  /** Whether the promoted sources are signed. */
  readonly signed: boolean;
  /** Bits of an element of src0. */
  readonly sourceBits: number;
  /** Bits of an element of the destination. */
  readonly resultBits: number;
  /** Whether the destination's type is signed. */
  readonly signedResult: boolean;
  /** src0 + src1, exact even if 64-bit sources saturate. */
  readonly sum: () => Expr;
  /** A product of sources or intermediate results, clamped to 64 bits if the instruction saturates. */
  readonly product: (a: Expr, b: Expr) => Expr;
  /** A sum of sources or intermediate results, clamped in the same way. */
  readonly plus: (a: Expr, b: Expr) => Expr;
}

/** The computation of an instruction on integers. */
export interface IntegerSemantics {
  readonly domain: IntegerDomain;
  /** Whether src1 is a shift count. The row is given its low 5 bits (6 if the result has 64 bits) as an `i32`. */
  readonly shifts?: true;
  /**
   * Builds the result. Sources (except a shift count) and result are all `i32` or all `i64`, or predicates where the
   * row allows them.
   */
  readonly sem: (terms: IntegerTerms, ...sources: Expr[]) => Expr;
}

/** Arithmetic in the execution type, with rounding and subnormal numbers as %cr0 says. */
export interface FloatArithmetic {
  readonly ty: "f32" | "f64";
  /** a + b, rounded once. */
  add(a: Expr, b: Expr): Expr;
  /** a - b, rounded once. */
  sub(a: Expr, b: Expr): Expr;
  /** a * b, rounded once. */
  mul(a: Expr, b: Expr): Expr;
  /** a * b + c, rounded once. */
  fma(a: Expr, b: Expr, c: Expr): Expr;
  /** a / b, rounded once. */
  div(a: Expr, b: Expr): Expr;
  /** The square root, rounded once. */
  sqrt(a: Expr): Expr;
  /** If one operand is NaN, the other one. */
  min(a: Expr, b: Expr): Expr;
  /** If one operand is NaN, the other one. */
  max(a: Expr, b: Expr): Expr;
  /** A constant of type `ty`. */
  constant(value: number): Expr;
  /** Rounds to an integral number: to nearest even, towards zero, down, up. */
  integral(direction: "rni" | "rzi" | "rmi" | "rpi", a: Expr): Expr;
  /** A function of binary32 operands, as accurate as `numeric/` computes it. */
  approximate(name: "sin" | "cos" | "lg2" | "ex2" | "rsqrt" | "tanh" | "sigmoid" | "pow", ...a: Expr[]): Expr;
}

/** Builds the result of an instruction from floating-point sources. */
export type FloatSemantics = (float: FloatArithmetic, ...sources: Expr[]) => Expr;

/** The execution of instructions that are lowered by name. */
export const special: Execution = { kind: "special" };
