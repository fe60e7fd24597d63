import type { ModuleWriter } from "../../../wasm/index.ts";
import type { HostSite } from "../../abi/compiled-kernel.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import type { LaunchShape } from "../../abi/launch-shape.ts";
import type { CallGraph } from "../plan/call-graph.ts";
import type { CompiledFunction } from "../plan/callables.ts";
import type { FunctionPlan } from "../plan/function-plans.ts";
import type { LaneStacks } from "../plan/lane-stacks.ts";
import type { ProgramFacts } from "../plan/program-facts.ts";
import type { StackMode } from "../plan/stack-mode.ts";
import type { AccessHelpers } from "./access-helpers.ts";
import type { SuspendedFrames } from "./suspended-frames.ts";

/** The module of one kernel, while its functions are written. */
export interface ModuleUnit {
  readonly module: ModuleWriter;
  readonly facts: ProgramFacts;
  readonly shape: LaunchShape;
  /** How many times four lanes are a chunk. */
  readonly quads: number;
  readonly layout: ContextLayout;
  /** What the kernel can call, and what of it has to lie in memory. */
  readonly graph: CallGraph;
  readonly stacks: LaneStacks;
  readonly stackMode: StackMode;
  readonly plans: ReadonlyMap<CompiledFunction, FunctionPlan>;
  /** Where functions that may pause keep what they go on with. */
  readonly paused: SuspendedFrames;
  /** Offsets of the parameters whose allocation the launcher looks up beforehand. */
  readonly roots: readonly number[];
  /** By number, as the launcher is told them. */
  readonly sites: HostSite[];
  readonly accessFunctions: AccessHelpers;
  /** For each kind of indirect call the functions that it may go to. */
  readonly targets: (readonly CompiledFunction[])[];
  /** Whether code is better short than fast: there is so much of it. */
  readonly isTerse: boolean;
  /** Whether the code may find out that it cannot go on. */
  mayGiveUp: boolean;
  /** How many instructions remember what they accessed. */
  records: number;
}
