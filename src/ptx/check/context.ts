import type { DiagnosticSink } from "../../source/index.ts";
import type { LabelSymbol, ParameterSymbol, RegisterSymbol, VariableSymbol } from "../symbols.ts";
import type { FunctionDeclaration } from "../tree.ts";
import type { CandidateGates } from "./gates.ts";

/** The architecture that a module is for (11.1.2). */
export interface Target {
  /** As in "sm_90a". */
  readonly name: string;
  /** The number: 90 for sm_90a. */
  readonly sm: number;
  /** `a`: this architecture alone; `f`: its family; `""`: this one and later. */
  readonly variant: "" | "a" | "f";
}

/** A formal parameter, as the body of its function sees it. */
export type FormalSymbol = RegisterSymbol | ParameterSymbol;

/** What a function's body declares and uses. */
export interface BodyInfo {
  readonly returns: readonly FormalSymbol[];
  readonly params: readonly FormalSymbol[];
  /** The registers that the body mentions and those of its formal parameters; `registers[i].index` is `i`. */
  readonly registers: RegisterSymbol[];
  /** All memory variables declared in the body, at any depth, in order. */
  readonly locals: VariableSymbol[];
  readonly labels: LabelSymbol[];
}

/** What the check of one instruction needs to know. Names have been bound before: `NameExpr.symbol` is null only where a diagnostic says why. */
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
