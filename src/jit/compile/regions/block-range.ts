import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import type { Axis, GridRange, GridStride } from "../analysis/values/grid-strides.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { SpecialRegisters } from "../emit/special-registers.ts";
import { both, extended, i64, minus } from "../lanes/scalar.ts";
import { type BlocksLeft, BlockTrials } from "./block-trials.ts";
import { type RangeTest, RangeValues } from "./range-values.ts";
import { RowParts } from "./row-parts.ts";

/** Tests of a range, and what lets its blocks be treated as one row. */
interface RangeTests {
  readonly tests: readonly RangeTest[];
  /** The strides of all that is read of the first chunk's registers; null where they are not known. */
  readonly stridesRead: readonly GridStride[] | null;
}

/** Blocks next to each other in which tests fail although they hold in others: a row ends, and the next begins. */
const bordersInRow = 2;

/**
 * Neighbouring blocks in a row of the grid, and in each the threads of chunks that are full: tests are made once for
 * all of them. If they fail, fewer blocks are tried.
 */
export class BlockRange {
  readonly #chunk: Chunk;
  readonly #specials: SpecialRegisters;
  /** Threads of a block that are in whole chunks, those of one row, and how many rows there are: locals. */
  readonly #whole: number;
  readonly #inRow: number;
  readonly #rows: number;
  /** Threads of a block along `%tid.x`; whether all of its threads are in one row of whole chunks: locals. */
  readonly #width: number;
  readonly #isFullRow: number;
  /** Threads of the row that is looped over, and how many blocks after the first are part of it: locals. */
  readonly #threads: number;
  readonly #skipped: number;
  /** Whether (0 or 1) there are full chunks, and these lie in rows of the block: a local. */
  readonly #hasThreads: number;
  readonly #trials: BlockTrials;
  readonly #parts: RowParts;
  /** Whether (0 or 1) each block is a row of the grid, and tests are made for several; null: they never are. */
  readonly #areRows: Wasm | null;
  /** Threads of a block that the straight path is for: a local. */
  readonly #reached: number;
  /** Blocks ahead for which the tests hold: a local. */
  readonly #tested: number;

  /**
   * Writes what is the same for all blocks. `threads`: the local with the number of threads of a block; `range`: for
   * which blocks tests can be made at once.
   */
  constructor(
    chunk: Chunk,
    specials: SpecialRegisters,
    { words }: ContextLayout,
    { context, threads }: { readonly context: number; readonly threads: number },
    range: GridRange,
  ) {
    const { writer: w, lanes } = chunk;
    const sizes = (["ntid.x", "ntid.y", "ntid.z"] as const).map((name) => {
      w.get(context);
      w.memory("i32.load", 4, words[name]);
      const size = w.local("i32");
      w.set(size);
      return size;
    });
    this.#width = sizes[0]!;
    const [x, y, z] = sizes.map((size) => wasm.local("i32", size)) as [Wasm, Wasm, Wasm];
    const all = wasm.local("i32", threads);
    const filled = wasm.op("i32.and", all, wasm.i32(-lanes));
    const isRow = wasm.op("i32.eq", x, all);
    const isRows = wasm.op("i32.eqz", wasm.op("i32.and", x, wasm.i32(lanes - 1)));
    const local = (value: Wasm): number => {
      const index = w.local(value.ty);
      w.assign([{ local: index, value }]);
      return index;
    };
    const last = (count: Wasm): Wasm => minus(extended(count), i64(1));
    const inRow = wasm.select(isRows, x, filled);
    const isWhole = wasm.op("i32.eq", filled, all);
    const isSome = wasm.op("i32.ne", filled, wasm.i32(0));
    this.#whole = local(wasm.select(isRows, all, filled));
    this.#inRow = local(inRow);
    this.#rows = local(wasm.op("i32.mul", y, z));
    this.#isFullRow = local(both(isRow, isWhole));
    this.#hasThreads = local(both(wasm.op("i32.or", isRow, isRows), isSome));
    this.#tested = local(wasm.i32(0));
    this.#threads = w.local("i32");
    this.#skipped = w.local("i32");
    this.#reached = w.local("i32");
    const extent = local(last(inRow));
    const extents = new Map<Axis, number>([
      ["tid.x", extent],
      ["tid.y", local(last(y))],
      ["tid.z", local(last(z))],
      ["ctaid.x", w.local("i64")],
      ["ctaid.y", w.local("i64")],
    ]);
    const plane = range === "plane" ? specials.rowsInPlane() : null;
    const areRows = plane && wasm.local("i32", local(wasm.op("i32.eq", plane.blocks, wasm.i32(1))));
    const row = { threads: this.#inRow, extent, isBlock: local(isRow), areRows, rowsLeft: plane?.rows ?? null };
    this.#parts = new RowParts(w, lanes, row);
    const values = new RangeValues(chunk, extents, areRows);
    this.#trials = new BlockTrials(chunk, specials, values, bordersInRow, this.#parts);
    this.#areRows = areRows;
    this.#chunk = chunk;
    this.#specials = specials;
  }

  /**
   * Whether (0 or 1) the threads of all blocks are one row: each block continues where the last one ends, in all values
   * that are read.
   */
  #isOneRow(stridesRead: readonly GridStride[], count: Wasm): Wasm {
    const width = wasm.local("i32", this.#width);
    const scalar = (expr: Expr): Wasm => {
      const value = this.#chunk.value(expr);
      if (value.kind !== "uniform") throw new Error("a step is not the same in all lanes");
      return value.scalar;
    };
    const continues = stridesRead.map((strides) => {
      const [thread, block] = [strides.get("tid.x"), strides.get("ctaid.x")];
      if (thread === undefined || block === undefined || strides.size > 2) return wasm.i32(0);
      return wasm.op("i32.eq", scalar(block), wasm.op("i32.mul", scalar(thread), width));
    });
    const threads = wasm.op("i64.mul", extended(wasm.local("i32", this.#whole)), extended(count));
    const fits = wasm.op("i64.lt_u", threads, wasm.i64(2n ** 31n));
    const all = continues.reduce(both, both(wasm.local("i32", this.#isFullRow), fits));
    return this.#areRows === null ? all : both(all, wasm.op("i32.eqz", this.#areRows));
  }

  /**
   * Writes code for blocks in which the tests hold: for each, or once for all if their threads are one row; and what
   * is done otherwise. `prepare`: computes the first chunk's invariants.
   */
  ifTested(
    { tests, stridesRead }: RangeTests,
    prepare: () => void,
    left: BlocksLeft,
    then: () => void,
    otherwise: () => void,
  ): void {
    const { writer: w } = this.#chunk;
    const local = (index: number): Wasm => wasm.local("i32", index);
    w.value(wasm.op("i32.lt_u", local(this.#tested), local(this.#hasThreads)));
    w.if(() => {
      this.#trials.write(tests, prepare, left, (count) => this.#begin(stridesRead, count, left.blockIndex));
    });
    w.value(local(this.#tested));
    w.expect(true);
    w.if(() => {
      w.assign([{ local: this.#tested, value: wasm.op("i32.sub", local(this.#tested), wasm.i32(1)) }]);
      then();
    }, otherwise);
  }

  /** Begins with blocks for which the tests hold: the first has an index. */
  #begin(stridesRead: RangeTests["stridesRead"], count: Wasm, blockIndex: number): void {
    const { writer: w } = this.#chunk;
    w.assign([
      { local: this.#tested, value: count },
      { local: this.#threads, value: wasm.local("i32", this.#inRow) },
      { local: this.#reached, value: wasm.local("i32", this.#whole) },
      { local: this.#skipped, value: wasm.i32(0) },
    ]);
    const takePart = (threads: Wasm): void =>
      w.assign([
        { local: this.#threads, value: threads },
        { local: this.#reached, value: threads },
      ]);
    const takeRow = (): void =>
      w.assign([
        { local: this.#tested, value: wasm.i32(1) },
        { local: this.#threads, value: wasm.op("i32.mul", wasm.local("i32", this.#whole), count) },
        { local: this.#skipped, value: wasm.op("i32.sub", count, wasm.i32(1)) },
      ]);
    this.#parts.found(blockIndex, takePart, () => {
      if (stridesRead === null) return;
      w.value(this.#isOneRow(stridesRead, count));
      w.if(takeRow);
    });
  }

  /** Loops over the chunks of a block, or of several that are one row. */
  eachChunk(blockIndex: number, beginRow: () => void, run: () => void): void {
    const { writer: w, lanes } = this.#chunk;
    const [x, row] = [w.local("i32"), w.local("i32")];
    const local = (index: number): Wasm => wasm.local("i32", index);
    w.assign([{ local: row, value: local(this.#rows) }]);
    w.loop((nextRow) => {
      beginRow();
      w.assign([{ local: x, value: wasm.i32(0) }]);
      w.loop((nextChunk) => {
        run();
        w.assign([{ local: x, value: wasm.op("i32.add", local(x), wasm.i32(lanes)) }]);
        this.#specials.nextInRow(local(x), lanes);
        w.value(wasm.op("i32.lt_u", local(x), local(this.#threads)));
        w.brIf(nextChunk);
      });
      this.#specials.nextRow();
      w.value(wasm.op("i32.sub", local(row), wasm.i32(1)));
      w.tee(row);
      w.brIf(nextRow);
    });
    // Threads after the full chunks of a row that is the whole block.
    this.#specials.placeInRow(local(this.#reached));
    w.value(local(this.#skipped));
    w.if(() => {
      w.assign([{ local: blockIndex, value: wasm.op("i32.add", local(blockIndex), local(this.#skipped)) }]);
      this.#specials.firstBlock(blockIndex);
    });
    for (const free of [x, row]) w.release(free);
  }
}
