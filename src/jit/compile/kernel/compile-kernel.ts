import { type Features, type FunctionWriter, wasm } from "../../../wasm/index.ts";
import type { CompiledKernel } from "../../abi/compiled-kernel.ts";
import type { HostImport } from "../../abi/host-imports.ts";
import type { LaunchShape } from "../../abi/launch-shape.ts";
import { prepare } from "../analysis/code/prepared-code.ts";
import { type BarrierRegion, barrierRegionsOf } from "../analysis/flow/barrier-regions.ts";
import { registerIntervals } from "../analysis/flow/live-intervals.ts";
import { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import { spillBudgetOf } from "../analysis/spill-budget.ts";
import { type Invariants, invariantsOf } from "../analysis/values/invariant-code.ts";
import { rowStridesOf } from "../analysis/values/row-strides.ts";
import { specialsOf } from "../analysis/values/special-registers.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { Chunk } from "../emit/chunk.ts";
import type { Sharing } from "../emit/register-locals.ts";
import { SpecialRegisters } from "../emit/special-registers.ts";
import { ExpectedObjects } from "../memory/expected-objects.ts";
import { Frame, frameFunctions } from "../memory/frame.ts";
import { KernelStacks } from "../memory/kernel-stacks.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { importHost } from "../module/host-calls.ts";
import type { ModuleUnit } from "../module/module-unit.ts";
import { preparationIn } from "../plan/call-graph.ts";
import type { CompiledFunction } from "../plan/callables.ts";
import { functionName } from "../plan/calling-convention.ts";
import type { KernelPlan } from "../plan/kernel-plan.ts";
import { plansFor } from "../plan/partial-returns.ts";
import { resumeBlocks, type SuspensionPoints, stateBytesFor } from "../plan/pauses.ts";
import type { ProgramFacts } from "../plan/program-facts.ts";
import { reachableFrom } from "../plan/reachable-functions.ts";
import { BlockRange } from "../regions/block-range.ts";
import { Suspension } from "../sync/suspension.ts";
import { BarrierLoops } from "./barrier-loops.ts";
import { Body } from "./body.ts";
import { activate, clearRegisters, clearShared } from "./chunk-start.ts";
import { type ChunkStart, ChunkTurns } from "./chunk-turns.ts";
import { writeFunction } from "./function.ts";
import { HardwareThreads } from "./hardware-threads.ts";
import { type Idle, idleTest } from "./idle-chunks.ts";
import { unitOf } from "./lay-out-module.ts";

/** What every kernel imports; the rest is imported where code first needs it. */
const ptxImports: readonly HostImport[] = ["translate", "fault", "gather", "settle", "deadlock"];

const visaImports: readonly HostImport[] = [
  "translate",
  "fault",
  "startThread",
  "surface",
  "gather",
  "settle",
  "deadlock",
];

/** @throws Unsupported when the kernel has something that is not compiled */
export function compileKernel(
  { number }: CompiledFunction,
  shape: LaunchShape,
  program: ProgramFacts,
  features: Features,
): CompiledKernel {
  const { kernel, ...scope } = reachableFrom(number, shape, program);
  const { facts, graph, stacks } = scope;
  const { ir } = kernel;
  const code = prepare(kernel, facts.bindings, preparationIn(graph));
  const { analysed, plans: written } = plansFor(kernel, code, scope);
  const unit = unitOf(kernel, analysed, written, scope, features);
  const { module, layout, quads, plans } = unit;
  module.importMemory({ initial: 1, maximum: 65536, shared: shape.shared });
  for (const name of shape.width === null ? ptxImports : visaImports) importHost(module, name);
  if (stacks.isUsed) frameFunctions(module, quads * 4, stacks.stride, unit.paused.isUsed);
  const stateBytes = writeRun(unit, kernel, analysed);
  for (const plan of plans.values()) writeFunction(unit, plan);
  module.table(facts.callables.list.map((f) => (graph.isCalledByAddress(f) ? functionName(f) : "")));
  module.export("run");
  return {
    name: kernel.ir.name,
    bytes: module.finish(),
    largestFunction: module.largestFunction,
    lanes: quads * 4,
    shape,
    layout,
    stackStride: stacks.stride,
    fileBytes: ir.file?.bytes ?? 0,
    stateBytes,
    roots: unit.roots,
    sites: unit.sites,
    targets: Uint8Array.from(unit.targets.flatMap((of) => facts.callables.list.map((f) => (of.includes(f) ? 1 : 0)))),
    mayGiveUp: stacks.isChecked || module.imports.includes("giveUp" satisfies HostImport),
    // Groups of hardware threads that run at the same time would need places of their own in private memory.
    waits: givesWay(unit, analysed.pauses) || shape.width !== null,
    imports: module.imports,
  };
}

const [context, ticket, last] = [0, 1, 2];

/**
 * `run(context, from, to)`: the blocks with these tickets, one after the other, each chunk by chunk. Returns `to`, or the ticket
 * of a block that only waits for what others do, after some patience: it goes on if it is the first one next time. What comes back
 * here is how many bytes a chunk keeps that waits.
 */
function writeRun(unit: ModuleUnit, kernel: CompiledFunction, { analysis, pauses }: KernelPlan): number {
  const { shape, layout, quads, facts, stacks } = unit;
  const w = unit.module.function("run", ["i32", "i32", "i32"], ["i32"]);
  const { code } = analysis;
  w.keepIn({ base: context, offset: layout.lasting, ...spillBudgetOf(code, quads) });
  const stalled = resumeBlocks(pauses);
  const hoisted = invariantsOf(analysis, stalled);
  const entry = w.local("i32");
  const specials = new SpecialRegisters(w, layout, context, shape, specialsOf(code.instructions));
  const frame = new Frame(unit, w, kernel, null);
  const chunk = new Chunk(
    w,
    analysis,
    quads,
    (leaf) => specials.value(leaf),
    (leaf) => frame.address(leaf),
    sharingOf(analysis, hoisted, stalled),
    hoisted.rematerialized,
  );
  const { file } = code.ir;
  const files =
    file === undefined ? null : new HardwareThreads(unit, chunk, kernel, { context, first: specials.first });
  const reaches = new ExpectedObjects(unit, w, analysis, context, frame);
  const isLockstep = shape.width !== null;
  const suspension =
    stalled.size === 0 ? null : new Suspension(chunk, pauses, hoisted.registers, { isFunction: false, isLockstep });
  if (suspension !== null && suspension.bytes > stateBytesFor(analysis, pauses, quads, isLockstep)) {
    throw new Error("the state of a chunk is larger than the room for it");
  }
  const siteOf = (instruction: number, record: number | null, element = 0): number =>
    unit.sites.push({ function: kernel.number, instruction: code.origins[instruction]!, record, element }) - 1;
  const memory: FunctionContext = {
    context,
    entry,
    hasStacks: stacks.isUsed,
    isShared: shape.shared,
    layout,
    unit,
    siteOf,
  };
  const calls = { unit, callable: kernel, frame, ended: null, isFunction: false };
  const body = new Body({
    chunk,
    context: memory,
    objects: reaches,
    points: pauses,
    suspension,
    invariants: hoisted,
    calls,
  });
  const kernelStacks = new KernelStacks(unit, w, context, specials.first, frame);
  /** Instructions that are executed here, and the vectors of their results. */
  const hoist = (instructions: readonly number[]): void => {
    body.hoist(instructions);
    for (const i of instructions) {
      for (const to of code.instructions[i]!.dst) {
        if (typeof to === "number" && hoisted.splats.has(to)) chunk.keepSplat(to);
      }
    }
  };
  const threads = w.local("i32");
  const { first } = specials;
  const local = (index: number) => wasm.local("i32", index);
  specials.loadGrid();
  reaches.begin();
  w.get(context);
  w.memory("i32.load", 4, layout.words.threads);
  w.set(threads);
  const isOneRow = w.local("i32");
  w.get(context);
  w.memory("i32.load", 4, layout.words["ntid.x"]);
  w.value(wasm.local("i32", threads));
  w.op("i32.eq");
  w.set(isOneRow);
  const flat = stacks.isUsed ? null : body.flatPath();
  const region = flat === null ? null : new BlockRange(chunk, specials, layout, context, threads);
  kernelStacks.begin();
  w.assign([{ local: entry, value: wasm.op("i32.add", local(context), wasm.i32(layout.calls)) }]);
  hoist(hoisted.grid);
  const none = w.begin("block");
  w.value(wasm.op("i32.ge_u", local(ticket), local(last)));
  w.brIf(none);
  specials.firstBlock(ticket);
  w.loop((nextBlock) => {
    specials.startBlock(ticket);
    hoist(hoisted.block);
    const beginBlock = (): void => {
      if (facts.sharedBytes > 0) clearShared(unit, w, context);
      files?.clearSharedMemory();
      body.gatherings?.beginBlock();
    };
    const begin = (): void => {
      clearRegisters(chunk);
      files?.start();
      if (kernel.allocates) frame.open(memory);
      frame.clear(null);
      body.flow.reset();
      body.begin();
      body.gatherings?.begin();
    };
    const prepare = (): void => {
      specials.startChunk();
      files?.find();
      body.gatherings?.find(first);
      kernelStacks.place();
      hoist(hoisted.chunk);
    };
    const isWhole = shape.full
      ? wasm.i32(1)
      : wasm.op("i32.le_s", wasm.i32(chunk.lanes), wasm.op("i32.sub", local(threads), local(first)));
    const start: ChunkStart = { isWhole, prepare, activate: () => activate(chunk, shape, threads, first), begin };
    const firstChunk = (): void => {
      w.assign([{ local: first, value: wasm.i32(0) }]);
      specials.firstChunk();
    };
    /** From the chunk that is next, as long as some threads begin before a number. `idle`: chunks that are passed over. */
    const chunksBefore = (end: number, run: () => void, idle: Idle | null = null): void => {
      /** Leaves on the stack whether there is another. */
      const next = (): void => {
        const lanes = shape.width ?? chunk.lanes;
        count(w, first, lanes);
        specials.nextChunk(lanes);
        w.value(wasm.op("i32.lt_u", local(first), local(end)));
      };
      const done = w.begin("block");
      w.loop((nextChunk) => {
        // A loop of its own: in one with vectors in it each round costs more.
        if (idle !== null) {
          w.loop((again) => {
            hoist(hoisted.chunk);
            w.value(idle.alone);
            w.if(() => {
              if (idle.toTheEnd !== null) {
                w.value(wasm.op("i32.and", local(isOneRow), idle.toTheEnd));
                w.brIf(done);
              }
              next();
              w.brIf(again);
              w.br(done);
            });
          });
        }
        run();
        next();
        w.brIf(nextChunk);
      });
      w.end();
    };
    const eachChunk = (run: () => void, idle: Idle | null = null): void => {
      firstChunk();
      chunksBefore(threads, run, idle);
    };
    if (suspension === null) {
      beginBlock();
      firstChunk();
      const done = w.begin("block");
      if (flat !== null && region !== null) {
        const hoistChunk = (): void => hoist(hoisted.chunk);
        region.ifGood(flat, hoistChunk, ticket, last, () => {
          body.writeFlat(flat, hoistChunk, (beginRow, run) => region.eachChunk(ticket, beginRow, run));
          w.value(wasm.op("i32.ge_u", local(first), local(threads)));
          w.brIf(done);
        });
      }
      chunksBefore(threads, () => {
        start.prepare();
        start.activate();
        start.begin();
        body.write(isWhole);
        body.gatherings?.noteStuck();
      });
      w.end();
      body.gatherings?.endIfStuck();
    } else {
      const { barriers } = pauses;
      const isSimple = suspension.masked.length === 0 && body.gatherings === null && shape.width === null;
      const phases = isSimple ? barrierRegionsOf(code, barriers) : null;
      if (phases !== null) {
        const left = wasm.op("i32.sub", wasm.op("i32.sub", local(threads), local(first)), wasm.i32(1));
        const lastLane = wasm.op("i64.extend_i32_u", left);
        const along = rowStridesOf(analysis, hoisted);
        const idleIn = (phase: BarrierRegion): Idle | null =>
          idleTest(chunk, phase, barriers, hoisted, along, lastLane);
        const turns = new BarrierLoops(unit, chunk, context, first, suspension, body, barriers);
        turns.write(phases, eachChunk, idleIn, beginBlock, start);
      } else {
        const rounds = new ChunkTurns(unit, w, context, first, suspension, body);
        if (givesWay(unit, pauses)) rounds.stopAt(ticket);
        rounds.write(eachChunk, beginBlock, start);
      }
    }
    count(w, ticket, 1);
    specials.nextBlock();
    w.value(wasm.op("i32.lt_u", local(ticket), local(last)));
    w.brIf(nextBlock);
  });
  w.end();
  w.get(last);
  return suspension?.bytes ?? 0;
}

/** How the registers of a kernel share locals; null where they do not. */
function sharingOf(
  analysis: UniformityAnalysis,
  { registers, splats }: Invariants,
  pauses: ReadonlySet<number>,
): Sharing | null {
  const { ir, liveness } = analysis.code;
  // What lanes share in other ways than by registers is not looked at.
  if (ir.file !== undefined || new WarpWaitBlocks(analysis).all.length > 0) return null;
  const spans = registerIntervals(analysis, pauses);
  return spans === null ? null : { spans, apart: new Set([...registers, ...splats, ...liveness.acrossLanes]) };
}

/** Whether lanes may give way, in the kernel or in what it calls. */
const givesWay = ({ plans }: ModuleUnit, { spins }: SuspensionPoints): boolean =>
  spins.size > 0 || [...plans.values()].some(({ pauses }) => pauses.spins.size > 0);

const count = (w: FunctionWriter, local: number, by: number): void =>
  w.assign([{ local, value: wasm.op("i32.add", wasm.local("i32", local), wasm.i32(by)) }]);
