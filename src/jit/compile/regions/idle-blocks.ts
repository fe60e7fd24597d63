import type { Guard } from "../../../ir/index.ts";
import { type Label, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import { type BranchCondition, branchConditionOf } from "../analysis/flow/branch-condition.ts";
import { type Axis, GridStrides } from "../analysis/values/grid-strides.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { SpecialRegisters } from "../emit/special-registers.ts";
import { extended, i64, minus } from "../lanes/scalar.ts";
import { type BlocksLeft, BlockTrials } from "./block-trials.ts";
import { branchTest } from "./branch-test.ts";
import { type RangeTest, RangeValues } from "./range-values.ts";

/** Tests that no thread of a range of blocks has anything to do. */
export interface IdleTests {
  /** Of blocks in a row of the grid. */
  readonly row: RangeTest;
  /** Of whole rows; null where that cannot be tested. */
  readonly plane: RangeTest | null;
}

/** Blocks that are not tried after a trial that has failed, at most, where each is a row of the grid. */
const longestPause = 7;

/** Branches that are looked at, one after the other: mostly there is one for each dimension. */
const mostBranches = 3;

/**
 * Finds the tests that no thread of a range has anything to do, as in `if (i >= n) return`: one of the kernel's first
 * branches sends all of them to the exit, or those that are left, and nothing happens before it. Null where there is no
 * such branch.
 */
export function idleTestsOf(chunk: Chunk, invariants: Invariants): IdleTests | null {
  const ofRow = new GridStrides(chunk.analysis, invariants, "row");
  const ofPlane = new GridStrides(chunk.analysis, invariants, "plane");
  const rows: RangeTest[] = [];
  const planes: RangeTest[] = [];
  for (const { guard, condition, holds } of leavingBranchesOf(chunk, invariants)) {
    const testOf = (strides: GridStrides) => branchTest(chunk, guard, condition, strides, holds !== guard.negate);
    const [row, plane] = [testOf(ofRow), testOf(ofPlane)];
    if (row !== null) rows.push(row);
    if (plane !== null) planes.push(plane);
  }
  return rows.length === 0 ? null : { row: anyOf(rows), plane: planes.length === 0 ? null : anyOf(planes) };
}

const anyOf =
  (tests: readonly RangeTest[]): RangeTest =>
  (range) =>
    tests.map((test) => test(range)).reduce((a, b) => wasm.op("i32.or", a, b));

/** A branch at the end of a block that only computes: threads for which its predicate has one value leave. */
export interface LeavingBranch {
  readonly guard: Guard;
  readonly condition: BranchCondition | null;
  /** The predicate's value in threads that leave. */
  readonly holds: boolean;
}

/** The first branches of a kernel at which threads leave, if nothing happens before them. */
export function leavingBranchesOf(chunk: Chunk, invariants: Invariants): readonly LeavingBranch[] {
  const { graph, liveness } = chunk.analysis.code;
  const found: LeavingBranch[] = [];
  let next: number | null = liveness.liveIn(0).isEmpty ? 0 : null;
  while (next !== null && found.length < mostBranches) {
    if (found.length > 0 && graph.blocks[next]!.predecessors.length !== 1) break;
    const leaving = leavingBranchOf(chunk, invariants, next);
    if (leaving === null) break;
    found.push(leaving.branch);
    next = leaving.stay;
  }
  return found;
}

/** The branch at the end of a block, and the block of those who stay; null where there is none. */
function leavingBranchOf(
  chunk: Chunk,
  invariants: Invariants,
  block: number,
): { readonly branch: LeavingBranch; readonly stay: number | null } | null {
  const { analysis } = chunk;
  const { graph, instructions, edgeCopies } = analysis.code;
  const { start, end } = graph.blocks[block]!;
  const { op, guard, lanes } = instructions[end - 1]!;
  if (guard === null || lanes !== undefined) return null;
  const isExit = (block: number): boolean => block >= graph.blocks.length || analysis.isDeparture[block] === true;
  const target = op.kind === "branch" ? graph.blockAt(op.target) : null;
  const leaves = op.kind === "return" || op.kind === "exit" || (target !== null && isExit(target));
  if (!leaves && (target === null || !isExit(block + 1))) return null;
  const condition = branchConditionOf(analysis, chunk.rematerialized, block, end - 1, (i) => invariants.has(i));
  const isForBranch = (i: number): boolean => invariants.has(i) || condition?.instructions.includes(i) === true;
  for (let i = start; i < end - 1; i++) {
    if (edgeCopies.has(i) || (!isForBranch(i) && instructions[i]!.op.kind !== "pure")) return null;
  }
  const stay = leaves ? block + 1 : target!;
  return { branch: { guard, condition, holds: leaves !== guard.negate }, stay: isExit(stay) ? null : stay };
}

/** Blocks that have nothing to do: many of a row of the grid are skipped at once, and many rows. */
export class IdleBlocks {
  readonly #chunk: Chunk;
  readonly #specials: SpecialRegisters;
  readonly #tests: IdleTests;
  /** Whether (0 or 1) the lanes of each chunk are in one row of the block: a local. */
  readonly #isInRows: number;
  readonly #values: RangeValues;
  readonly #trials: BlockTrials;
  /** The distance (i64) of the last row that is tested from the first: a local. */
  readonly #lastRow: number;
  /**
   * Blocks that are not tried before the next trial, and how many these were after the last one that failed: locals.
   * Where each block is a row of the grid, idle ones come once, at the end of a plane, and a few of them may run: a
   * trial takes as long as a short row. Otherwise each block is tried.
   */
  readonly #pause: number;
  readonly #lastPause: number;

  /** Writes what is the same for all blocks. `threads`: the local with the number of threads of a block. */
  constructor(
    chunk: Chunk,
    specials: SpecialRegisters,
    { words }: ContextLayout,
    { context, threads }: { readonly context: number; readonly threads: number },
    tests: IdleTests,
  ) {
    const { writer: w, lanes } = chunk;
    const size = (name: "ntid.x" | "ntid.y" | "ntid.z"): Wasm => {
      w.get(context);
      w.memory("i32.load", 4, words[name]);
      const local = w.local("i32");
      w.set(local);
      return wasm.local("i32", local);
    };
    const local = (value: Wasm): number => {
      const index = w.local(value.ty);
      w.assign([{ local: index, value }]);
      return index;
    };
    const last = (count: Wasm): number => local(minus(extended(count), i64(1)));
    const x = size("ntid.x");
    const isRow = wasm.op("i32.eq", x, wasm.local("i32", threads));
    this.#isInRows = local(wasm.op("i32.or", isRow, wasm.op("i32.eqz", wasm.op("i32.and", x, wasm.i32(lanes - 1)))));
    this.#lastRow = w.local("i64");
    this.#pause = local(wasm.i32(0));
    this.#lastPause = local(wasm.i32(0));
    const extents = new Map<Axis, number>([
      ["tid.x", last(x)],
      ["tid.y", last(size("ntid.y"))],
      ["tid.z", last(size("ntid.z"))],
      ["ctaid.x", w.local("i64")],
      ["ctaid.y", this.#lastRow],
    ]);
    this.#values = new RangeValues(chunk, extents);
    // Most blocks have something to do.
    this.#trials = new BlockTrials(chunk, specials, this.#values, 0);
    this.#chunk = chunk;
    this.#specials = specials;
    this.#tests = tests;
  }

  /**
   * Skips blocks from this one on, and goes to `done` with the last of them as the present one; goes on if this block
   * has something to do. `prepare`: computes the first chunk's invariants.
   */
  skip(prepare: () => void, left: BlocksLeft, done: Label): void {
    const { writer: w } = this.#chunk;
    const { blockIndex } = left;
    const local = (index: number): Wasm => wasm.local("i32", index);
    const found = (count: Wasm): void => {
      const last = wasm.op("i32.sub", wasm.op("i32.add", local(blockIndex), count), wasm.i32(1));
      w.assign([
        { local: blockIndex, value: last },
        { local: this.#lastPause, value: wasm.i32(0) },
      ]);
      this.#specials.firstBlock(blockIndex);
      w.br(done);
    };
    w.value(wasm.select(local(this.#isInRows), wasm.op("i32.eqz", local(this.#pause)), wasm.i32(0)));
    w.if(
      () => {
        this.#trials.write([this.#tests.row], prepare, left, (count) => this.#withRowsAfter(count, left, found));
        this.#begin();
      },
      () => w.assign([{ local: this.#pause, value: wasm.op("i32.sub", local(this.#pause), wasm.i32(1)) }]),
    );
  }

  /** Begins a pause after a trial that has failed: each is twice as long as the one before. */
  #begin(): void {
    const rest = this.#tests.plane === null ? null : this.#specials.rowsInPlane();
    if (rest === null) return;
    const last = wasm.local("i32", this.#lastPause);
    const longer = wasm.op("i32.add", wasm.op("i32.shl", last, wasm.i32(1)), wasm.i32(1));
    const isRow = wasm.op("i32.eq", rest.blocks, wasm.i32(1));
    // All ones where it is a row.
    const mask = wasm.op("i32.sub", wasm.i32(0), isRow);
    const pause = wasm.op("i32.and", wasm.op("i32.and", longer, wasm.i32(longestPause)), mask);
    const { writer } = this.#chunk;
    writer.assign([
      { local: this.#pause, value: pause },
      { local: this.#lastPause, value: pause },
    ]);
  }

  /**
   * Writes what is done with the idle blocks from the present one on: `count` of them in its row, and where these are a
   * whole row and all rows after it are idle too, those as well.
   */
  #withRowsAfter(count: Wasm, { blockIndex, end }: BlocksLeft, found: (count: Wasm) => void): void {
    const { writer: w } = this.#chunk;
    const { plane } = this.#tests;
    const rest = this.#specials.rowsInPlane();
    if (plane === null || rest === null) {
      found(count);
      return;
    }
    const { blocks, rows } = rest;
    const all = w.local("i32");
    w.assign([
      { local: all, value: count },
      { local: this.#lastRow, value: minus(extended(rows), i64(1)) },
    ]);
    w.value(wasm.op("i32.eq", count, blocks));
    w.if(() => {
      w.value(this.#values.holds([plane], count));
      w.if(() => {
        const left = extended(wasm.op("i32.sub", wasm.local("i32", end), wasm.local("i32", blockIndex)));
        const inRows = wasm.op("i64.mul", extended(blocks), extended(rows));
        const fewer = wasm.select(wasm.op("i64.lt_u", left, inRows), left, inRows);
        w.assign([{ local: all, value: wasm.op("i32.wrap_i64", fewer) }]);
      });
    });
    found(wasm.local("i32", all));
    w.release(all);
  }
}
