import type { Destination, LaneRule, Op, UndefinedCase } from "../../ir/index.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";
import type { Instruction, Name } from "../tree.ts";

/** The facts about the surrounding routine that the lowering of an instruction needs. */
export interface LowerContext {
  readonly routine: BoundRoutine;
  /** The variable that a name in an operand refers to. */
  variable(name: Name): Variable;
  /**
   * The offset in the byte file of a general variable, an address variable (4 bytes per element), a surface or a
   * sampler (4 bytes).
   */
  offsetOf(variable: Variable): number;
  /** The IR register of a predicate variable. */
  registerOf(variable: Variable): number;
  /** The IR register with a bit for each active lane, as an instruction that reads `%ce0` finds it. */
  readonly maskRegister: number;
  /**
   * Where in the byte file a routine that shares registers with its fused thread (`dpasw`) takes them: a dword that
   * says whether they are there, and those of both threads.
   */
  readonly fusedAt: number;
}

/**
 * An IR instruction that an instruction is lowered to; most are lowered to one. Branches within an instruction count
 * from its first one. The lowering of the routine adds the guard, the lanes and the span of the source instruction.
 */
export interface Lowered {
  readonly op: Op;
  readonly dst: readonly Destination[];
  readonly undefinedCases?: readonly UndefinedCase[];
  /** The lanes, if not those of the execution size. */
  readonly lanes?: LaneRule;
  /** Whether the predicate is an operand, and does not guard the instruction (`sel`). */
  readonly unguarded?: boolean;
}

export type LowerInstruction = (context: LowerContext, instruction: Instruction) => readonly Lowered[];
