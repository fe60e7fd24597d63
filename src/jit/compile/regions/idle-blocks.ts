import { type Label, type Wasm, wasm } from "../../../wasm/index.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import { branchConditionOf } from "../analysis/flow/branch-condition.ts";
import { type Axis, GridStrides } from "../analysis/values/grid-strides.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { SpecialRegisters } from "../emit/special-registers.ts";
import { extended, i64, minus } from "../lanes/scalar.ts";
import { type BlocksLeft, BlockTrials } from "./block-trials.ts";
import { branchTest } from "./branch-test.ts";
import { type RangeTest, RangeValues } from "./range-values.ts";

/**
 * Finds the test that no thread of a range has anything to do, as in `if (i >= n) return`: the kernel's first branch
 * sends all of them to the exit, and nothing happens before it. Null where there is no such branch.
 */
export function idleTestOf(chunk: Chunk, invariants: Invariants): RangeTest | null {
  const { analysis } = chunk;
  const { graph, instructions, liveness, edgeCopies } = analysis.code;
  const { start, end } = graph.blocks[0]!;
  const { op, guard, lanes } = instructions[end - 1]!;
  const readsZeros = !liveness.liveIn(0).isEmpty;
  if (guard === null || lanes !== undefined || readsZeros) return null;
  const isExit = (block: number): boolean => block >= graph.blocks.length || analysis.isDeparture[block] === true;
  const leaves =
    op.kind === "return" || op.kind === "exit" || (op.kind === "branch" && isExit(graph.blockAt(op.target)));
  if (!leaves && !(op.kind === "branch" && isExit(1))) return null;
  const condition = branchConditionOf(analysis, chunk.rematerialized, 0, end - 1, (i) => invariants.has(i));
  const isForBranch = (i: number): boolean => invariants.has(i) || condition?.instructions.includes(i) === true;
  for (let i = start; i < end - 1; i++) {
    if (edgeCopies.has(i) || (!isForBranch(i) && instructions[i]!.op.kind !== "pure")) return null;
  }
  return branchTest(chunk, guard, condition, new GridStrides(analysis, invariants), leaves);
}

/** Blocks that have nothing to do: many of a row of the grid are skipped at once. */
export class IdleBlocks {
  readonly #chunk: Chunk;
  readonly #specials: SpecialRegisters;
  readonly #test: RangeTest;
  /** Whether (0 or 1) the lanes of each chunk are in one row of the block: a local. */
  readonly #isInRows: number;
  readonly #trials: BlockTrials;

  /** Writes what is the same for all blocks. `threads`: the local with the number of threads of a block. */
  constructor(
    chunk: Chunk,
    specials: SpecialRegisters,
    { words }: ContextLayout,
    { context, threads }: { readonly context: number; readonly threads: number },
    test: RangeTest,
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
    const extents = new Map<Axis, number>([
      ["tid.x", last(x)],
      ["tid.y", last(size("ntid.y"))],
      ["tid.z", last(size("ntid.z"))],
      ["ctaid.x", w.local("i64")],
    ]);
    // Most blocks have something to do.
    this.#trials = new BlockTrials(chunk, specials, new RangeValues(chunk, extents), 0);
    this.#chunk = chunk;
    this.#specials = specials;
    this.#test = test;
  }

  /**
   * Skips blocks from this one on, and goes to `done` with the last of them as the present one; goes on if this block
   * has something to do. `prepare`: computes the first chunk's invariants.
   */
  skip(prepare: () => void, left: BlocksLeft, done: Label): void {
    const { writer: w } = this.#chunk;
    const { blockIndex } = left;
    w.get(this.#isInRows);
    w.if(() => {
      const found = (count: Wasm): void => {
        const last = wasm.op("i32.sub", wasm.op("i32.add", wasm.local("i32", blockIndex), count), wasm.i32(1));
        w.assign([{ local: blockIndex, value: last }]);
        this.#specials.firstBlock(blockIndex);
        w.br(done);
      };
      this.#trials.write([this.#test], prepare, left, found);
    });
  }
}
