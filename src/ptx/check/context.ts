import type { DiagnosticSink } from "../../source/index.ts";
import type { LabelSymbol } from "../tree/leaves.ts";
import type { FunctionDeclaration, ParameterSymbol, RegisterSymbol, VariableSymbol } from "../tree/nodes.ts";
import type { CandidateGates } from "./gates.ts";
import type { Target } from "./target.ts";

/** A formal parameter as the function's body sees it: a register or a variable in the `.param` state space. */
export type FormalSymbol = RegisterSymbol | ParameterSymbol;

/** The names that a function's body declares and uses. */
export interface BodyInfo {
  readonly returns: readonly FormalSymbol[];
  readonly params: readonly FormalSymbol[];
  /** The registers of the formal parameters, then those that the body uses; `registers[i].index` is `i`. */
  readonly registers: RegisterSymbol[];
  /** All variables in memory that the body declares, at any depth, in source order. */
  readonly locals: VariableSymbol[];
  readonly labels: LabelSymbol[];
}

/** A type with its `readonly` removed, for symbols that are completed after their creation. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * What the check of one instruction depends on. Names have been bound: `NameExpr.symbol` is null only after a
 * diagnostic.
 */
export interface CheckContext {
  readonly sink: DiagnosticSink;
  /** The PTX ISA version as one number: 6.4 is 604. */
  readonly version: number;
  readonly target: Target;
  readonly addressSize: 32 | 64;
  readonly gates: CandidateGates;
  readonly function: FunctionDeclaration;
  readonly body: BodyInfo;
}
