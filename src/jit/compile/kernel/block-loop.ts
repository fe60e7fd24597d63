import { type Wasm, wasm } from "../../../wasm/index.ts";
import { type BarrierRegion, barrierRegionsOf } from "../analysis/flow/barrier-regions.ts";
import { rowStridesOf } from "../analysis/values/row-strides.ts";
import { specialsOf } from "../analysis/values/special-registers.ts";
import type { BlockRange } from "../regions/block-range.ts";
import type { IdleBlocks } from "../regions/idle-blocks.ts";
import type { StraightPath } from "../regions/straight-path.ts";
import type { Suspension } from "../sync/suspension.ts";
import { BarrierLoops, type BarrierRegions } from "./barrier-loops.ts";
import { ChunkLoop } from "./chunk-loop.ts";
import type { ChunkStart } from "./chunk-start.ts";
import { ChunkTurns } from "./chunk-turns.ts";
import { type IdleTest, idleTest, leavesToTheEnd } from "./idle-chunks.ts";
import { computeInvariants, type KernelRun, local32, mayYield } from "./kernel-run.ts";
import { StepLoops } from "./step-loops.ts";

/** What is tested for many blocks of the grid at once; null where it cannot be. */
export interface BlockTests {
  /** A straight path, and the range of blocks for which its tests are made. */
  readonly straight: { readonly path: StraightPath; readonly range: BlockRange } | null;
  readonly idle: IdleBlocks | null;
}

/** Writes what one block does: its chunks one after the other, or in turns where they wait for each other. */
export function writeBlockLoop(run: KernelRun, start: ChunkStart, tests: BlockTests): void {
  const { scope, points } = run;
  const { unit, suspension } = scope;
  const chunks = new ChunkLoop(run);
  if (suspension === null) {
    writeOnce(run, chunks, start, tests);
    return;
  }
  if (run.steps !== null) {
    new StepLoops(run, suspension, run.steps).write(chunks, start, idleTests(run));
    return;
  }
  const regions = regionsOf(run, suspension);
  if (regions !== null) {
    const idleIn = idleTests(run);
    new BarrierLoops(run, suspension).write(regions, chunks, start, idleIn);
  } else new ChunkTurns(run, suspension, mayYield(unit, points)).write(chunks, start);
}

/** Each chunk runs once, to its end: none of an idle block, and those at the beginning perhaps on the straight path. */
function writeOnce(run: KernelRun, chunks: ChunkLoop, start: ChunkStart, { straight, idle }: BlockTests): void {
  const { scope, threads, first } = run;
  const { writer: w, body } = scope;
  start.beginBlock();
  chunks.begin();
  const done = w.begin("block");
  const prepare = (): void => {
    run.scope.specials.loadRows();
    computeInvariants(run, run.invariants.chunk);
  };
  const skipIdle = (): void => idle?.skip(prepare, run, done);
  if (straight === null) skipIdle();
  else {
    const { path, range } = straight;
    const runStraight = (): void => {
      body.writeStraight(path, prepare, (beginRow, write) => range.eachChunk(run.blockIndex, beginRow, write));
      w.value(wasm.op("i32.ge_u", local32(first), local32(threads)));
      w.brIf(done);
    };
    range.ifTested(path, prepare, run, runStraight, skipIdle);
  }
  const isOver = idle === null ? null : restIsIdle(run);
  chunks.rest(() => {
    start.prepare();
    if (isOver !== null) {
      scope.chunk.begin();
      w.value(wasm.op("i32.and", local32(run.isOneRow), isOver));
      w.brIf(done);
    }
    start.activate();
    start.begin();
    body.write(start.isWhole);
    body.warpWaits?.noteStuck();
  });
  w.end();
  body.warpWaits?.endIfStuck();
}

/** The code between barriers, where all lanes of each chunk arrive at all of them together; else null. */
function regionsOf({ scope, points }: KernelRun, suspension: Suspension): BarrierRegions | null {
  const { unit, chunk, body } = scope;
  const arriveTogether = suspension.maskedBlocks.length === 0 && body.warpWaits === null && unit.shape.width === null;
  return arriveTogether ? barrierRegionsOf(chunk.analysis.code, points.barriers) : null;
}

/**
 * Whether no thread of a one-row block, from the chunk that runs on, has anything to do; null where nobody can tell, or
 * where the grid has one row, as far as the kernel knows: only that row's end would gain from the test of each chunk.
 */
function restIsIdle(run: KernelRun): Wasm | null {
  const { chunk, body } = run.scope;
  if (!specialsOf(chunk.analysis.code.instructions).has("ctaid.y")) return null;
  chunk.begin();
  const strides = rowStridesOf(chunk.analysis, run.invariants, () => false);
  return leavesToTheEnd(chunk, body.leavingBranches(), { strides, lastLane: lastLaneOf(run) });
}

/** The number (i64), counted from the first lane of the chunk that runs, of the last lane of the block. */
function lastLaneOf({ threads, first }: KernelRun): Wasm {
  const left = wasm.op("i32.sub", local32(threads), local32(first));
  return wasm.op("i64.extend_i32_u", wasm.op("i32.sub", left, wasm.i32(1)));
}

/** By barrier region, which chunks have nothing to do in it. */
function idleTests(run: KernelRun): (region: BarrierRegion) => IdleTest | null {
  const { scope, points, invariants, steps } = run;
  const { chunk } = scope;
  const lastLane = lastLaneOf(run);
  const isShared = (r: number): boolean => steps?.shared.has(r) === true;
  const strides = rowStridesOf(chunk.analysis, invariants, isShared);
  return (region) => idleTest(chunk, region, points.barriers, { invariants, isShared, strides, lastLane });
}
