import { imageRegisters, levelRegisters } from "../../abi/image-words.ts";
import type { Expr, MatrixProduct, UnitOp, WarpgroupProduct } from "../../../ir/index.ts";
import { keptWordsBytes } from "../../../tiles/index.ts";
import { type Features, ModuleWriter } from "../../../wasm/index.ts";
import { layContext } from "../../abi/context-layout.ts";
import { maxThreads, lanesOf } from "../../abi/launch-shape.ts";
import { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import { spillBudgetOf } from "../analysis/spill-budget.ts";
import type { PreparedCode } from "../analysis/code/prepared-code.ts";
import { isWide } from "../lanes/value.ts";
import { AccessHelpers } from "../module/access-helpers.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { ImageHelpers } from "../module/image-helpers.ts";
import { RecordHelpers } from "../module/record-helpers.ts";
import { SuspendedFrames } from "../module/suspended-frames.ts";
import { activationBytes, calledBytes } from "../plan/activation-size.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { FunctionPlan } from "../plan/function-plans.ts";
import type { KernelPlan } from "../plan/kernel-plan.ts";
import { resumeBlocks, stateBytesFor } from "../plan/suspension-points.ts";
import type { KernelScope } from "../plan/scope.ts";
import { tileBytes } from "../sync/matrix-operations.ts";
import { areaOf } from "../sync/warpgroup-products.ts";
import { stackBytesOf, stackModeOf } from "../plan/stack-mode.ts";

/** Instructions that are not too many for code that is as fast as can be. */
const maxAtLength = 20_000;

/** Calls that can be open at once. */
const maxCalls = 4096;

/** Decides where everything lies in a context, and begins the module. */
export function layOutModule(
  kernel: CompiledFunction,
  kernelPlan: KernelPlan,
  plans: readonly FunctionPlan[],
  scope: KernelScope,
  features: Features,
): ModuleUnit {
  const { analysis, points, matrices } = kernelPlan;
  const { shape, facts, graph, stacks } = scope;
  const { quads } = shape;
  const lanes = 4 * quads;
  // Hardware threads may have fewer lanes than chunks.
  const chunks = Math.ceil(maxThreads / (shape.width ?? lanesOf(shape)));
  const stackMode = stackModeOf(kernel, stacks, graph, resumeBlocks(points).size > 0);
  const suspendedFrames = new SuspendedFrames(kernelPlan, plans, graph, quads, chunks);
  const { paramBytes, roots } = paramsOf(kernel, scope);
  const instructions = [analysis.code, ...plans.map((p) => p.code)].reduce(
    (n, code) => n + code.instructions.length,
    0,
  );
  const { needs, warpgroupArea } = productNeeds([analysis.code, ...plans.map((p) => p.code)]);
  const sharedExtents = Math.max(facts.shared.length, facts.functions.program.shared.extents.length);
  const layout = layContext({
    lanes,
    chunks,
    paramBytes,
    roots: roots.length,
    sites: instructions,
    ownExtents: sharedExtents + 1 + facts.constants.extents.length + kernel.ir.params.length,
    chunkStateBytes: matrices.stateBytes + stateBytesFor(analysis, points, quads, shape.width !== null),
    suspendedFrameBytes: suspendedFrames.bytes,
    framePoolBytes: suspendedFrames.poolBytes,
    ...needs,
    matrixRegisterBytes: matrices.contextBytes,
    hasWarpWaits: new WarpWaitBlocks(analysis).all.length > 0,
    calls: graph.order.recursive ? maxCalls : graph.functions.length + 1,
    memoryParams: stacks.isUsed ? Math.max(...graph.functions.map((f) => f.ir.params.length)) : 0,
    memoryResults: stacks.isUsed ? Math.max(...graph.functions.map((f) => f.ir.returns.length)) : 0,
    args: graph.externalArgs,
    targetBytes: graph.indirectCalls * facts.functions.list.length,
    ...stackBytesOf(stackMode, kernel, stacks, lanes),
    fileBytes: shape.width === null ? 0 : chunks * activationBytes(kernel, quads),
    callFileBytes: calledBytes(scope) * (graph.suspendsInFunctions ? chunks : 1),
    spillBytes: spillBudgetOf(analysis.code, quads, points.spins.size > 0).bytes,
    sharedBytes: facts.sharedBytes,
  });
  const module = new ModuleWriter(features);
  return {
    module,
    ...scope,
    functionPlans: new Map(plans.map((p) => [p.compiled, p])),
    quads,
    layout,
    warpgroupArea,
    stackMode,
    recordHelpers: new RecordHelpers(module),
    imageHelpers: new ImageHelpers(module),
    accessHelpers: new AccessHelpers(module, {
      layout,
      lanes,
      stackStride: stacks.stride,
      window: graph.externals.has("free") ? null : BigInt(facts.bindings.window),
    }),
    suspendedFrames,
    roots,
    sites: [],
    targets: [],
    isTerse: instructions > maxAtLength,
    records: 0,
  };
}

/**
 * Bytes of a kernel's parameters, and the offsets of those that may be pointers whose allocation is looked up before a
 * launch.
 */
function paramsOf({ ir }: CompiledFunction, { facts, graph }: KernelScope) {
  const params = ir.params.flatMap(({ storage, type }) =>
    storage.kind === "kernel" ? [{ at: storage.offset, type }] : [],
  );
  const pointers = params.filter(({ type }) => type.size === facts.addressSize / 8 && type.kind !== "f");
  return {
    paramBytes: params.reduce((end, { at, type }) => Math.max(end, at + type.size), 0),
    // What device code may free is looked up at every access.
    roots: graph.externals.has("free") ? [] : pointers.map(({ at }) => at),
  };
}

/** The registers that compiled code needs to perform an operation on an image itself. */
function imageRegistersOf(unit: UnitOp): number {
  if (unit.op === "image-fetch") return unit.fetch.level === "base" ? imageRegisters : levelRegisters.end;
  const isSurface = unit.op === "surface-load" || unit.op === "surface-store" || unit.op === "surface-reduce";
  return isSurface ? imageRegisters : 0;
}

/**
 * What products of matrices and units of the machine need in some code: registers of 32 bits that one reads and writes,
 * at most, and tiles.
 */
function productNeeds(code: readonly PreparedCode[]) {
  const products: MatrixProduct[] = [];
  const ofWarpgroups: WarpgroupProduct[] = [];
  let registers = 0;
  const count = (operands: readonly Expr[]): number => operands.reduce((n, { ty }) => n + (isWide(ty) ? 2 : 1), 0);
  for (const { op, dst } of code.flatMap(({ instructions }) => instructions)) {
    if (op.kind === "unit") {
      const own = imageRegistersOf(op.unit);
      registers = Math.max(registers, count(op.operands), 2 * dst.length, own);
      if (op.unit.op === "multiply-warpgroup") {
        ofWarpgroups.push(op.unit.product);
        // The result lies before the accumulators.
        registers = Math.max(registers, dst.length + count(op.operands));
      }
    }
    if (op.kind !== "warp" || op.warp.op !== "multiply") continue;
    products.push(op.warp.product);
    registers = Math.max(registers, count(op.warp.operands) + 2 * dst.length);
  }
  const { left, right } = tileBytes(products);
  const warpgroupArea = areaOf(ofWarpgroups);
  return {
    warpgroupArea,
    needs: {
      fragmentRegisters: registers,
      leftTileBytes: left,
      rightTileBytes: right,
      warpgroupBytes: warpgroupArea.bytes,
      warpgroupKeptBytes: warpgroupArea.bytes === 0 ? 0 : keptWordsBytes,
    },
  };
}
