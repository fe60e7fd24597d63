import type { FileTarget } from "../../ir/index.ts";
import type { Lanes } from "../../ir/region.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import type { Expr, Value } from "../../semantics/index.ts";
import type { RegisterFile, Slot } from "./register-file.ts";

/** A register, or a place in the byte file. */
export type Target = Slot | FileTarget;

export interface Assignment {
  readonly value: Expr;
  readonly to: Target;
}

export type Run = (x: Activation, mask: number) => void;

/** The value in one lane; `old` holds what the `old` leaves mean. */
export type LaneFunction = (x: Activation, lane: number, old: readonly Value[]) => Value;

/** Where the variables of the function's frame begin, from the start of the lane's frame. */
type FrameOffset = (variable: number) => number;

export interface FunctionContext {
  readonly file: RegisterFile;
  readonly frameOffset: FrameOffset;
  /** The amount to add to a frame address to make it generic. */
  readonly window: bigint;
}

/** Turns bound expressions into code. Both realisations give the same results in every bit. */
export interface ExprCompiler {
  /**
   * Code that computes all values, lane by lane, and then writes them. It runs in some of `lanes` (null: any). No lane
   * may read bytes of the byte file that another lane writes, except in values that are the same in all lanes.
   */
  readonly assign: (context: FunctionContext, assignments: readonly Assignment[], lanes: Lanes | null) => Run;
  readonly lane: (context: FunctionContext, expr: Expr, lanes: Lanes | null) => LaneFunction;
}
