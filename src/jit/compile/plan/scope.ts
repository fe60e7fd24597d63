import type { LaunchShape } from "../../abi/launch-shape.ts";
import type { CallGraph } from "./call-graph.ts";
import type { LaneStacks } from "./lane-stacks.ts";
import type { PassedRegisters } from "./passed-registers.ts";
import type { ProgramFacts } from "./program-facts.ts";

/** A kernel with all that it can call, for blocks of one shape: what every pass after reachability may look at. */
export interface KernelScope {
  readonly shape: LaunchShape;
  readonly facts: ProgramFacts;
  /** The functions that the kernel can reach, and the calls between them. */
  readonly graph: CallGraph;
  /** How the registers that calls of vISA pass come to the callee. */
  readonly passed: PassedRegisters;
  /** The lanes' stacks: the frames of these functions, as far as they lie in memory. */
  readonly stacks: LaneStacks;
}
