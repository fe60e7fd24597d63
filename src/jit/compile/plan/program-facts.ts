import type { Extent } from "../../../machine/memory/extent.ts";
import type { Bindings } from "../../../semantics/bind.ts";
import type { CompiledFunctions } from "./compiled-functions.ts";
import type { SharedUse } from "./shared-use.ts";

/** The properties of a program that compiled code depends on. */
export interface ProgramFacts {
  readonly bindings: Bindings;
  readonly addressSize: 32 | 64;
  readonly functions: CompiledFunctions;
  /** Bytes of stack that a lane may use. */
  readonly stackLimit: number;
  /** The shared variables, by address. */
  readonly shared: readonly Extent[];
  readonly sharedBytes: number;
  /** The shared memory that the kernel can find, if that is not what the functions name. */
  readonly sharedUse?: SharedUse;
  readonly constants: VariableFacts;
  readonly globals: VariableFacts;
}

/** The variables of a program in one state space. */
export interface VariableFacts {
  /** By address. */
  readonly extents: readonly Extent[];
  /** Added to the low half of an address, the byte of memory. */
  readonly delta: number;
}
