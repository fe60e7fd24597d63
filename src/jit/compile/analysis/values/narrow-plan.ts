import type { Expr } from "../../../../semantics/index.ts";
import type { NarrowBits, NarrowForm } from "../../lanes/narrow.ts";
import type { Extremum } from "./signed-ranges.ts";

/** How an expression is evaluated in lanes of some width: each result is the exact one modulo that width. */
export type NarrowPlan =
  | { readonly kind: "constant"; readonly value: number }
  /** The same in all lanes. */
  | { readonly kind: "uniform" }
  | { readonly kind: "register"; readonly form: NarrowForm }
  /** Another expression that is equal to it. */
  | { readonly kind: "same"; readonly as: Expr }
  | { readonly kind: "binary"; readonly name: "add" | "sub" | "mul" | "and" | "or" | "xor" }
  | { readonly kind: "shift"; readonly name: "shl" | "shr_s" | "shr_u"; readonly count: number }
  /** Bytes out of the middle of halves. */
  | { readonly kind: "middle"; readonly count: number }
  /** The high half of the product with a number of 16 bits. */
  | { readonly kind: "high"; readonly factor: number }
  | { readonly kind: "magnitude"; readonly of: Expr }
  | { readonly kind: "extremum"; readonly extremum: Extremum; readonly signed: boolean }
  | { readonly kind: "select" }
  /** The same in lanes of another width, from which it is extended, or truncated. `fits`: nothing is cut off. */
  | { readonly kind: "resized"; readonly from: NarrowBits; readonly signed: boolean; readonly fits: boolean };

/** How a predicate is evaluated as a mask of narrow lanes. */
export type NarrowTest =
  | { readonly kind: "register"; readonly bits: NarrowBits }
  | { readonly kind: "compare"; readonly bits: NarrowBits; readonly name: Comparison; readonly signed: boolean }
  | { readonly kind: "logic"; readonly bits: NarrowBits; readonly name: "and" | "or" | "xor" | "not" };

export type Comparison = "eq" | "ne" | "lt" | "le";

/** How the code of a function is evaluated in narrow lanes. */
export interface NarrowPlans {
  /** How a register is kept; null if in lanes of 32 bits or more. */
  readonly form: (register: number) => NarrowForm | null;
  /**
   * The lanes in which an expression with any narrow register is better evaluated, whoever uses it; null if in wide
   * ones.
   */
  readonly widthOf: (expr: Expr) => NarrowBits | null;
  /** How an expression of type i32 is evaluated in lanes of some width; null if in wider ones. */
  readonly planOf: (expr: Expr, bits: NarrowBits) => NarrowPlan | null;
  /** How a predicate is evaluated as a narrow mask; null if as a wide one. */
  readonly testOf: (expr: Expr) => NarrowTest | null;
}
