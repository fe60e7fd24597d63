import type { Destination, LaneRule, Op, UndefinedCase } from "../../ir/index.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";
import type { Instruction, Name } from "../tree.ts";

/** What lowering an instruction needs to know of the routine around it. */
export interface LowerContext {
  readonly routine: BoundRoutine;
  /** What a name in an operand refers to. */
  variable(name: Name): Variable;
  /** The byte of the file at which a variable (general, address: 4 bytes an element, surface, sampler: 4 bytes) begins. */
  placeOf(variable: Variable): number;
  /** The register of a predicate variable. */
  registerOf(variable: Variable): number;
}

/**
 * What an instruction becomes: usually one IR instruction. The lowering of the routine adds the guard and the lanes of the
 * source instruction, and its span.
 */
export interface Lowered {
  readonly op: Op;
  readonly dst: readonly Destination[];
  readonly undefinedCases?: readonly UndefinedCase[];
  /** Instead of the lanes of the execution size. */
  readonly lanes?: LaneRule;
  /** The predicate is an operand, and does not guard the instruction (`sel`). */
  readonly unguarded?: boolean;
}

export type LowerInstruction = (context: LowerContext, instruction: Instruction) => readonly Lowered[];
