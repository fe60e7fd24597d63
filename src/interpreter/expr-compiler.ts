import type { Activation } from "../machine/activation.ts";
import type { Expr, Value } from "../semantics/index.ts";
import type { RegisterFile, Slot } from "./register-file.ts";

export interface Assignment {
  readonly value: Expr;
  readonly to: Slot;
}

export type Run = (x: Activation, mask: number) => void;

/** The value in one lane; `old` holds what the `old` leaves mean. */
export type LaneFunction = (x: Activation, lane: number, old: readonly Value[]) => Value;

/** Where the variables of the function's frame begin, from the start of the lane's frame. */
type FrameOffset = (variable: number) => number;

export interface FunctionContext {
  readonly file: RegisterFile;
  readonly frameOffset: FrameOffset;
  /** What makes a frame address generic. */
  readonly window: bigint;
}

/** Turns bound expressions into code. Both realisations give the same results in every bit. */
export interface ExprCompiler {
  /** Code that computes all values, lane by lane, and then writes them. */
  readonly assign: (context: FunctionContext, assignments: readonly Assignment[]) => Run;
  readonly lane: (context: FunctionContext, expr: Expr) => LaneFunction;
}
