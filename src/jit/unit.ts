import type { Extent } from "../machine/extent.ts";
import type { Bindings } from "../semantics/bind.ts";
import type { ModuleWriter } from "../wasm/index.ts";
import type { AccessFunctions } from "./access-functions.ts";
import type { CallGraph } from "./call-graph.ts";
import type { Callable, Callables } from "./callables.ts";
import type { ContextLayout } from "./context-layout.ts";
import type { StackMode } from "./kernel-stacks.ts";
import type { FunctionPlan } from "./plan.ts";
import type { PausedActivations } from "./paused-activations.ts";
import type { Stacks } from "./stacks.ts";
import type { Quads } from "./width.ts";

/** What of a launch the code of a kernel is made for. */
export interface LaunchShape {
  /** How many times four lanes a chunk has. */
  readonly quads: Quads;
  /** Each chunk of lanes lies in one row of the block, or the block has one row. */
  readonly rows: boolean;
  /** The threads of a block fill all chunks. */
  readonly full: boolean;
  /** Lanes of a hardware thread of vISA, which is a chunk; null for PTX. */
  readonly width: number | null;
  /** Several threads of the host may run blocks at the same time: the device's memory is one that they share. */
  readonly shared: boolean;
}

/** What is known of the program that the kernel is part of. */
export interface ProgramFacts {
  readonly bindings: Bindings;
  readonly addressSize: 32 | 64;
  readonly callables: Callables;
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

/** An instruction that asks the launcher. */
export interface Site {
  /** The function's place among those of the program. */
  readonly function: number;
  readonly instruction: number;
  /** Where in the context it remembers what it accessed, or null. */
  readonly record: number | null;
  /** Of an access through a surface that must be looked at element by element, the number of the element. */
  readonly element?: number;
}

/** The module of one kernel, while its functions are written. */
export interface Unit {
  readonly module: ModuleWriter;
  readonly facts: ProgramFacts;
  readonly shape: LaunchShape;
  /** How many times four lanes are a chunk. */
  readonly quads: number;
  readonly layout: ContextLayout;
  /** What the kernel can call, and what of it has to lie in memory. */
  readonly graph: CallGraph;
  readonly stacks: Stacks;
  readonly stackMode: StackMode;
  readonly plans: ReadonlyMap<Callable, FunctionPlan>;
  /** Where functions that may pause keep what they go on with. */
  readonly paused: PausedActivations;
  /** Offsets of the parameters whose allocation the launcher looks up beforehand. */
  readonly roots: readonly number[];
  /** By number, as the launcher is told them. */
  readonly sites: Site[];
  readonly accessFunctions: AccessFunctions;
  /** For each kind of indirect call the functions that it may go to. */
  readonly targets: (readonly Callable[])[];
  /** Whether code is better short than fast: there is so much of it. */
  readonly isTerse: boolean;
  /** Whether the code may find out that it cannot go on. */
  mayGiveUp: boolean;
  /** How many instructions remember what they accessed. */
  records: number;
}
