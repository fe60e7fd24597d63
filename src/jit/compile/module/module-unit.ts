import type { ModuleWriter } from "../../../wasm/index.ts";
import type { HostSite } from "../../abi/compiled-kernel.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import type { CompiledFunction } from "../plan/callables.ts";
import type { FunctionPlan } from "../plan/function-plans.ts";
import type { KernelScope } from "../plan/scope.ts";
import type { StackMode } from "../plan/stack-mode.ts";
import type { AccessHelpers } from "./access-helpers.ts";
import type { SuspendedFrames } from "./suspended-frames.ts";

/** The module of one kernel, while its functions are written. */
export interface ModuleUnit extends KernelScope {
  readonly module: ModuleWriter;
  /** How many times four lanes are a chunk. */
  readonly quads: number;
  readonly layout: ContextLayout;
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
  /** How many instructions remember what they accessed. */
  records: number;
}
