import type { SourceType } from "../../dwarf/index.ts";
import type { SourceValue } from "../source/source-value.ts";
import type { TypedBits } from "../view/value.ts";
import type { Value } from "./arithmetic.ts";
import type { Scope } from "./scope.ts";

/** An expression with a type of the source: a variable, a member, what a pointer points to. */
export interface Typed {
  /** The type, as far as it is the same wherever the expression is evaluated. */
  readonly type: SourceType;
  /** Throws an ExpressionError if there is no such thing here. */
  readonly value: (scope: Scope) => SourceValue;
}

/** An expression whose names have been resolved in a function, ready to be evaluated in any lane there. */
export interface Computation {
  /** Throws an ExpressionError if there is no value. */
  readonly number: (scope: Scope) => Value;
  /** Returns the same value as bits of its type. */
  readonly bits: (scope: Scope) => TypedBits;
  /** Whether arithmetic with it uses doubles. */
  readonly isFloat: boolean;
  /** Set if the value has a type of the source. */
  readonly typed?: Typed;
}
