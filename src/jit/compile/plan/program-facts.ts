import type { Extent } from "../../../machine/memory/extent.ts";
import type { Bindings } from "../../../semantics/bind.ts";
import type { CompiledFunctions } from "./callables.ts";

/** What is known of the program that the kernel is part of. */
export interface ProgramFacts {
  readonly bindings: Bindings;
  readonly addressSize: 32 | 64;
  readonly callables: CompiledFunctions;
  /** Bytes of stack that a lane may use. */
  readonly stackLimit: number;
  /** The shared variables, as addresses. */
  readonly shared: readonly Extent[];
  readonly sharedBytes: number;
  readonly constants: VariableFacts;
  readonly globals: VariableFacts;
}

/** Variables of the program. */
export interface VariableFacts {
  /** As addresses. */
  readonly extents: readonly Extent[];
  /** What is added to the low half of an address to get a byte of memory. */
  readonly delta: number;
}
