import { type Features, ModuleWriter } from "../../../wasm/index.ts";
import { layContext } from "../../abi/context-layout.ts";
import { maxThreads } from "../../abi/launch-shape.ts";
import { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import { spillBudgetOf } from "../analysis/spill-budget.ts";
import { AccessHelpers } from "../module/access-helpers.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { SuspendedFrames } from "../module/suspended-frames.ts";
import { activationBytes, calledBytes } from "../plan/activation-size.ts";
import type { CompiledFunction } from "../plan/callables.ts";
import type { FunctionPlan } from "../plan/function-plans.ts";
import type { KernelPlan } from "../plan/kernel-plan.ts";
import { resumeBlocks, stateBytesFor } from "../plan/pauses.ts";
import type { KernelScope } from "../plan/scope.ts";
import { stackBytesOf, stackModeOf } from "../plan/stack-mode.ts";

/** What is known of a kernel and of the functions that it calls, for the code of all of them. */
export function layOutModule(
  kernel: CompiledFunction,
  analysed: KernelPlan,
  plans: readonly FunctionPlan[],
  scope: KernelScope,
  features: Features,
): ModuleUnit {
  const { analysis, pauses } = analysed;
  const { shape, facts, graph, stacks } = scope;
  const { quads } = shape;
  const { ir } = kernel;
  // Hardware threads may have fewer lanes than chunks.
  const chunks = Math.ceil(maxThreads / (shape.width ?? 4 * quads));
  const all = [analysis.code, ...plans.map((p) => p.code)];
  const stackMode = stackModeOf(kernel, stacks, graph, resumeBlocks(pauses).size > 0);
  const paused = new SuspendedFrames(analysed, plans, graph, quads, chunks);
  const params = ir.params.flatMap(({ storage, type }) =>
    storage.kind === "kernel" ? [{ at: storage.offset, type }] : [],
  );
  const pointers = params.filter(({ type }) => type.size === facts.addressSize / 8 && type.kind !== "f");
  // What device code may free is looked up each time.
  const roots = graph.externals.has("free") ? [] : pointers.map(({ at }) => at);
  const module = new ModuleWriter(features);
  const layout = layContext({
    lanes: quads * 4,
    chunks,
    paramBytes: params.reduce((end, { at, type }) => Math.max(end, at + type.size), 0),
    roots: roots.length,
    sites: all.reduce((sum, { instructions }) => sum + instructions.length, 0),
    stateBytes: stateBytesFor(analysis, pauses, quads, shape.width !== null),
    pausedBytes: paused.bytes,
    poolBytes: paused.poolBytes,
    gathers: new WarpWaitBlocks(analysis).all.length > 0,
    calls: graph.order.recursive ? maxCalls : graph.functions.length + 1,
    memoryParams: stacks.isUsed ? Math.max(...graph.functions.map((f) => f.ir.params.length)) : 0,
    memoryResults: stacks.isUsed ? Math.max(...graph.functions.map((f) => f.ir.returns.length)) : 0,
    args: graph.externalArgs,
    targetBytes: graph.indirectCalls * facts.callables.list.length,
    ...stackBytesOf(stackMode, kernel, stacks, quads * 4),
    fileBytes: shape.width === null ? 0 : chunks * activationBytes(kernel, quads),
    callFileBytes: calledBytes(graph, quads) * (graph.pausesInFunctions ? chunks : 1),
    lastingBytes: spillBudgetOf(analysis.code, quads).bytes,
    sharedBytes: facts.sharedBytes,
  });
  return {
    module,
    ...scope,
    plans: new Map(plans.map((p) => [p.callable, p])),
    quads,
    layout,
    stackMode,
    accessFunctions: new AccessHelpers(module, layout, quads * 4, stacks.stride),
    paused,
    roots,
    sites: [],
    targets: [],
    isTerse: all.reduce((sum, { instructions }) => sum + instructions.length, 0) > maxAtLength,
    records: 0,
  };
}

/** Instructions that are not too many for code that is as fast as can be. */
const maxAtLength = 20_000;

/** Calls that can be open at once. */
const maxCalls = 4096;
