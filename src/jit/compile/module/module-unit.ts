import type { WarpgroupArea } from "../../../tiles/index.ts";
import type { ModuleWriter } from "../../../wasm/index.ts";
import type { HostSite } from "../../abi/compiled-kernel.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { FunctionPlan } from "../plan/function-plans.ts";
import type { KernelScope } from "../plan/scope.ts";
import type { StackMode } from "../plan/stack-mode.ts";
import type { AccessHelpers } from "./access-helpers.ts";
import type { ImageHelpers } from "./image-helpers.ts";
import type { RecordHelpers } from "./record-helpers.ts";
import type { SuspendedFrames } from "./suspended-frames.ts";

/** The module of one kernel, while its functions are written. */
export interface ModuleUnit extends KernelScope {
  readonly module: ModuleWriter;
  /** How many times four lanes are a chunk. */
  readonly quads: number;
  readonly layout: ContextLayout;
  /** How the memory is used that products of warpgroups have in the context. */
  readonly warpgroupArea: WarpgroupArea;
  readonly stackMode: StackMode;
  readonly functionPlans: ReadonlyMap<CompiledFunction, FunctionPlan>;
  /** Where functions that may suspend keep what they resume with. */
  readonly suspendedFrames: SuspendedFrames;
  /** Offsets of the pointers among the parameters whose allocations the launcher looks up before a launch. */
  readonly roots: readonly number[];
  /** The instructions that ask the launcher, by number. */
  readonly sites: HostSite[];
  readonly accessHelpers: AccessHelpers;
  readonly recordHelpers: RecordHelpers;
  readonly imageHelpers: ImageHelpers;
  /** For each kind of indirect call, the functions that it may go to. */
  readonly targets: (readonly CompiledFunction[])[];
  /** Whether code should be short rather than fast, since there is so much of it. */
  readonly isTerse: boolean;
  /** How many instructions have a record of what they accessed last. */
  records: number;
}
