import type { CallOp } from "../../../ir/calls.ts";
import type { Wasm } from "../../../wasm/index.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { Convention } from "../plan/calling-convention.ts";

/** A call of functions of the program, with the facts that its code depends on. */
export interface CallSite {
  /** The call's instruction. */
  readonly index: number;
  readonly op: CallOp;
  readonly convention: Convention;
  /** All functions that it may call. */
  readonly targets: readonly CompiledFunction[];
  readonly memory: StackSlots;
}

/**
 * Byte offsets in the lanes' stacks of arguments and results that are passed there, each with its number; -1: not
 * wanted.
 */
export interface StackSlots {
  readonly params: readonly (readonly [number, Wasm])[];
  readonly results: readonly (readonly [number, Wasm])[];
}
