import type { ExternalFunction } from "../../machine/state/externals.ts";
import type { CallTable } from "../../program/call-targets.ts";
import type { Bindings } from "../../semantics/bind.ts";
import type { DecodedFunction } from "./decoded-function.ts";
import type { ExprCompiler } from "./expr-compiler.ts";

/** The program around a function that is decoded. */
export interface ProgramContext extends CallTable<DecodedFunction> {
  readonly bindings: Bindings;
  readonly compiler: ExprCompiler;
  /** Whether code may be made from text. */
  readonly generate: boolean;
  /** Whether a basic block ends before each instruction that other threads can see, so that they may come between. */
  readonly fine: boolean;
  readonly externals: ReadonlyMap<string, ExternalFunction>;
}
