import { inAllocationsName } from "../module/allocated-granules.ts";
import { tileFunctionsIn } from "../../../tiles/index.ts";
import type { Features } from "../../../wasm/index.ts";
import type { CompiledKernel } from "../../abi/compiled-kernel.ts";
import type { HostImport } from "../../abi/host-imports.ts";
import { type LaunchShape, lanesOf } from "../../abi/launch-shape.ts";
import { type PreparedCode, prepare } from "../analysis/code/prepared-code.ts";
import { inRegionOrder } from "../analysis/code/region-order.ts";
import type { SourceCode } from "../analysis/code/source-code.ts";
import { frameFunctions } from "../memory/frame.ts";
import { importHost } from "../module/host-calls.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { preparationIn } from "../plan/call-graph.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import { functionName } from "../plan/calling-convention.ts";
import { plansFor } from "../plan/partial-returns.ts";
import type { ProgramFacts } from "../plan/program-facts.ts";
import { plansWithoutNeedless } from "../plan/needless-barriers.ts";
import { plansForSingleChunk } from "../plan/single-chunk.ts";
import { reachableFrom } from "../plan/reachable-functions.ts";
import { writeFunction } from "./function.ts";
import { writeGridLoop } from "./grid-loop.ts";
import { mayYield } from "./kernel-run.ts";
import { layOutModule } from "./lay-out-module.ts";

/** Whether a kernel is one module in any case, or may be several. */
export type ModuleCount = "one" | "any";

/**
 * Compiles a kernel for blocks of one shape. These are the compiler's passes, in order.
 *
 * @throws Unsupported when the kernel has something that is not compiled
 */
export function compileKernel(
  { number }: CompiledFunction,
  shape: LaunchShape,
  program: ProgramFacts,
  features: Features,
  modules: ModuleCount,
): CompiledKernel {
  // 1. Which functions the kernel can call, with small ones inlined: all that follows looks at these alone.
  const { kernel, ...scope } = reachableFrom(number, shape, program);
  // 2. The kernel's code in the form that analyses expect: blocks that end at calls which may exit or suspend, simpler
  // expressions.
  // In hardware threads the order of code decides which lanes run first.
  const ordered = shape.width === null ? inRegionOrder : (same: SourceCode): SourceCode => same;
  const code = (): PreparedCode => prepare(ordered(kernel), scope.facts.bindings, preparationIn(scope.graph));
  // 3. Which values are the same in all lanes, where lanes diverge and where they suspend; how functions are called. To
  // a fixed point, since what a call returns, and for which lanes, depends on the callee.
  const single = shape.single ? plansForSingleChunk(kernel, scope) : null;
  const whole = single ?? plansFor(kernel, code(), scope);
  const { kernelPlan, functionPlans } = plansWithoutNeedless(kernel, whole.kernelPlan, scope) ?? whole;
  // 4. Where everything lies in the context that a running block has in memory.
  const unit = layOutModule(kernel, kernelPlan, functionPlans, scope, features);
  // 5. What the module imports and the helpers that are written once.
  declareImports(unit);
  // 6. The kernel, inside the loops over blocks and over the chunks of a block.
  const stateBytes = writeGridLoop(unit, kernel, kernelPlan);
  // 7. The functions that it calls.
  for (const plan of functionPlans) writeFunction(unit, plan);
  // 8. The table through which calls by address go.
  writeCallTable(unit);
  // 9. The module's bytes, and what the launcher must know of it.
  const waits = mayYield(unit, kernelPlan.points);
  const isRerolled = [kernelPlan, ...functionPlans].some(({ analysis }) => analysis.code.isRerolled);
  return describe(unit, kernel, { stateBytes, waits, isRerolled, modules });
}

/** The imports of every kernel; the rest is imported where code first needs it. */
const ptxImports: readonly HostImport[] = ["translate", "fault", "arriveAtWarpWait", "settle", "deadlock"];

/** Imports in which a launch may be given up. */
const givingUp: readonly HostImport[] = ["giveUp", "cluster", "arriveAtBarrier"];

const visaImports: readonly HostImport[] = [
  "translate",
  "fault",
  "startThread",
  "surface",
  "arriveAtWarpWait",
  "settle",
  "deadlock",
];

function declareImports({ module, shape, quads, stacks, suspendedFrames }: ModuleUnit): void {
  module.importMemory({ initial: 1, maximum: 65536, shared: shape.shared });
  for (const name of shape.width === null ? ptxImports : visaImports) importHost(module, name);
  if (stacks.isUsed) frameFunctions(module, quads * 4, stacks.stride, suspendedFrames.isUsed);
}

function writeCallTable({ module, facts, graph }: ModuleUnit): void {
  module.table(facts.functions.list.map((f) => (graph.isCalledByAddress(f) ? functionName(f) : "")));
}

/** `waits`: whether blocks may wait for each other in loops. */
function describe(
  { module, facts, shape, layout, stacks, roots, sites, targets, accessHelpers }: ModuleUnit,
  { ir }: CompiledFunction,
  {
    stateBytes,
    waits,
    isRerolled,
    modules,
  }: {
    readonly stateBytes: number;
    readonly waits: boolean;
    readonly isRerolled: boolean;
    readonly modules: ModuleCount;
  },
): CompiledKernel {
  module.export("run");
  const { imports, optimizingTime } = module;
  const own = optimizingTime !== null || modules === "one" ? [] : tileFunctionsIn(module);
  const tiles = own.length === 0 ? new Uint8Array() : module.moved(own).finish();
  return {
    name: ir.name,
    bytes: module.finish(),
    tiles,
    optimizingTime,
    lanes: lanesOf(shape),
    shape,
    layout,
    stackStride: stacks.stride,
    fileBytes: ir.file?.bytes ?? 0,
    stateBytes,
    roots,
    sites,
    targets: Uint8Array.from(targets.flatMap((of) => facts.functions.list.map((f) => (of.includes(f) ? 1 : 0)))),
    mayGiveUp: stacks.isChecked || givingUp.some((name) => imports.includes(name)),
    // Groups of hardware threads that run at the same time would need places of their own in private memory.
    readsGranules: accessHelpers.has(inAllocationsName),
    isRerolled,
    waits: waits || shape.width !== null,
    imports,
  };
}
