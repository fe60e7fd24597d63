import type { Diagnostic } from "../../source/index.ts";
import type { LabelSymbol } from "../tree/leaves.ts";
import type { Module } from "../tree/module.ts";
import type { FunctionDeclaration, FunctionSymbol, Instruction, TargetList, VariableSymbol } from "../tree/nodes.ts";
import type { CallInfo } from "./calls.ts";
import type { BodyInfo } from "./context.ts";
import type { CallSignature } from "./signature.ts";
import type { Target } from "./target.ts";

/**
 * The result of `checkPtx`: a module whose names are bound and whose declarations, calls and instructions are checked.
 * Only a module without errors may be linked and lowered.
 */
export interface CheckedModule {
  readonly module: Module;
  /** Errors and warnings, in the order in which they were found. Each code has a page: `lanewise explain CODE`. */
  readonly diagnostics: readonly Diagnostic[];
  /** The PTX ISA version as one number: 6.4 is 604. */
  readonly version: number;
  readonly target: Target;
  /** Bits of an address (11.1.3). */
  readonly addressSize: 32 | 64;
  /** Functions and kernels in order of declaration, including aliases and functions without a body. */
  readonly functions: readonly FunctionSymbol[];
  /** The variables at module scope, in order of declaration. */
  readonly variables: readonly VariableSymbol[];
  /** What each function with a body declares and uses. */
  readonly bodies: ReadonlyMap<FunctionDeclaration, BodyInfo>;
  /** The target, arguments and results of every well-formed call. */
  readonly callInfo: ReadonlyMap<Instruction, CallInfo>;
  /** The parameters of every function declaration (`FunctionDeclaration`) and prototype (`CallPrototype`). */
  readonly signatures: ReadonlyMap<object, CallSignature>;
  /** The labels of each `.branchtargets`, in order, with ranges expanded. */
  readonly branchTargets: ReadonlyMap<TargetList, readonly LabelSymbol[]>;
  /** The functions of each `.calltargets`, in order, with ranges expanded. */
  readonly callTargets: ReadonlyMap<TargetList, readonly FunctionSymbol[]>;
}
