import { unitTraits } from "../../../ir/index.ts";
import { wasm } from "../../../wasm/index.ts";
import { spillBudgetOf } from "../analysis/spill-budget.ts";
import { KernelStacks } from "../memory/kernel-stacks.ts";
import { pushWord } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import { isRow } from "../../abi/launch-shape.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import type { CompiledFunction } from "../plan/compiled-functions.ts";
import type { KernelPlan } from "../plan/kernel-plan.ts";
import { BlockRange } from "../regions/block-range.ts";
import { IdleBlocks } from "../regions/idle-blocks.ts";
import { type BlockTests, writeBlockLoop } from "./block-loop.ts";
import { ChunkStart } from "./chunk-start.ts";
import type { FunctionScope } from "./function-scope.ts";
import {
  blockIndexParam,
  computeInvariants,
  contextParam,
  endParam,
  increase,
  type KernelRun,
  local32,
  openKernel,
} from "./kernel-run.ts";

/**
 * Writes `run(context, from, to)`: the blocks with these linear indices, one after the other. It returns `to`, or the
 * index of a block that after some patience still only waits for what others do, and that resumes if it is the first of
 * the next call. Returns the bytes of a suspended chunk's state.
 */
export function writeGridLoop(unit: ModuleUnit, kernel: CompiledFunction, plan: KernelPlan): number {
  const { layout, quads } = unit;
  const w = unit.module.function("run", ["i32", "i32", "i32"], ["i32"]);
  w.keepIn({
    base: contextParam,
    offset: layout.spill,
    ...spillBudgetOf(plan.analysis.code, quads, plan.points.spins.size > 0),
  });
  const parts = openKernel(unit, w, kernel, plan);
  const { scope, invariants } = parts;
  const { specials } = scope;
  const stacks = new KernelStacks(unit, w, contextParam, specials.first, scope.frame, kernel);
  const run: KernelRun = {
    ...parts,
    points: plan.points,
    context: contextParam,
    blockIndex: blockIndexParam,
    end: endParam,
    ...beginGrid(scope),
    first: specials.first,
  };
  const tests = blockTestsOf(run);
  stacks.begin();
  w.assign([{ local: scope.context.entry, value: wasm.op("i32.add", local32(contextParam), wasm.i32(layout.calls)) }]);
  computeInvariants(run, invariants.grid);
  const none = w.begin("block");
  w.value(wasm.op("i32.ge_u", local32(blockIndexParam), local32(endParam)));
  w.brIf(none);
  specials.firstBlock(blockIndexParam);
  w.loop((nextBlock) => {
    specials.startBlock(blockIndexParam);
    computeInvariants(run, invariants.block);
    writeBlockLoop(run, new ChunkStart(run, stacks), tests);
    if (takesOfUnits(unit, plan)) {
      importHost(unit.module, "endUnits");
      w.get(contextParam);
      callHost(w, "endUnits");
    }
    increase(w, blockIndexParam, 1);
    specials.nextBlock(blockIndexParam);
    w.value(wasm.op("i32.lt_u", local32(blockIndexParam), local32(endParam)));
    w.brIf(nextBlock);
  });
  w.end();
  w.get(endParam);
  return scope.suspension?.bytes ?? 0;
}

/** Whether blocks may take something of a unit of the machine that they must give back. */
const takesOfUnits = ({ functionPlans }: ModuleUnit, { analysis }: KernelPlan): boolean =>
  [analysis.code, ...[...functionPlans.values()].map(({ code }) => code)].some(({ instructions }) =>
    instructions.some(({ op }) => op.kind === "unit" && unitTraits[op.unit.op].takes === true),
  );

/**
 * Loads what is the same for all blocks. Returns locals with the threads of a block, and whether (0 or 1) these are one
 * row.
 */
function beginGrid(scope: FunctionScope): Pick<KernelRun, "threads" | "isOneRow"> {
  const { writer: w, specials, objects, context, unit } = scope;
  const threads = w.local("i32");
  specials.loadGrid();
  objects.begin();
  const { block } = unit.shape;
  if (block !== null) {
    const isOneRow = w.local("i32");
    w.assign([
      { local: threads, value: wasm.i32(block[0] * block[1] * block[2]) },
      { local: isOneRow, value: wasm.i32(isRow(block) ? 1 : 0) },
    ]);
    return { threads, isOneRow };
  }
  pushWord(w, context, "threads");
  w.set(threads);
  const isOneRow = w.local("i32");
  pushWord(w, context, "ntid.x");
  w.value(local32(threads));
  w.op("i32.eq");
  w.set(isOneRow);
  return { threads, isOneRow };
}

/** What is tested for many blocks at once. Writes what the tests need of the grid. */
function blockTestsOf({ scope, context, threads }: KernelRun): BlockTests {
  const { unit, specials, chunk, body, compiled } = scope;
  const hasOwn = unit.stacks.isUsed && compiled.ir.frameImage === undefined;
  if (hasOwn || unit.shape.clustered) return { straight: null, idle: null };
  // Its chunks advance along rows.
  const path = unit.shape.rowLength === null ? body.straightPath() : null;
  const tests = body.idleTests();
  const { layout } = unit;
  return {
    straight: path && { path, range: new BlockRange(chunk, specials, layout, { context, threads }, path.range) },
    idle: tests === null ? null : new IdleBlocks(chunk, specials, layout, { context, threads }, tests),
  };
}
