import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { ContextLayout } from "../../abi/context-layout.ts";
import type { Axis, GridStride } from "../analysis/values/grid-strides.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { SpecialRegisters } from "../emit/special-registers.ts";
import { atLeast, both, extended, i64, minus, plus } from "../lanes/scalar.ts";

/** A condition on all threads of a region, as the registers of its first chunk are. 0 or 1. */
export type RangeTest = (region: BlockRange) => Wasm;

/** The least and the greatest value (i64) that some threads have, and whether (0 or 1) none of them is beyond 32 bits. */
export interface ValueRange {
  readonly least: Wasm;
  readonly most: Wasm;
  readonly isExact: Wasm;
}

/**
 * Blocks behind one another in a row of the grid, and of each the threads in chunks in which all lanes have one: what some tests, made once,
 * tell about. If they fail fewer blocks are tried, and after that more again.
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
  /** Of the row that is gone through, the threads, and the blocks in it that are behind the first: locals. */
  readonly #span: number;
  readonly #skipped: number;
  /** Whether there are any, and chunks lie in rows of the block. */
  readonly #isThere: number;
  /** By axis, how far (i64) the last thread is from the first: locals. */
  readonly #extents: ReadonlyMap<Axis, number>;
  /** Blocks that are known to be good. */
  readonly #left: number;
  /** Blocks that are tried at once, at most. */
  readonly #most: number;

  /** Writes what is the same for all blocks. `threads`: the local with those of a block. */
  constructor(chunk: Chunk, specials: SpecialRegisters, { words }: ContextLayout, context: number, threads: number) {
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
    this.#isThere = local(both(wasm.op("i32.or", isRow, isRows), isSome));
    this.#left = local(wasm.i32(0));
    this.#most = local(wasm.i32(-1));
    this.#span = w.local("i32");
    this.#skipped = w.local("i32");
    this.#extents = new Map([
      ["tid.x", local(last(inRow))],
      ["tid.y", local(last(y))],
      ["tid.z", local(last(z))],
      ["ctaid.x", w.local("i64")],
    ]);
    this.#chunk = chunk;
    this.#specials = specials;
  }

  /** The range of a 32-bit value that grows. */
  range(expr: Expr, growth: GridStride, isSigned: boolean): ValueRange {
    const value = this.#chunk.value(expr);
    if (value.kind !== "uniform" && value.kind !== "affine")
      throw new Error("what grows is no number of the first lane");
    const first = extended(value.kind === "uniform" ? value.scalar : value.base, isSigned);
    let [least, most] = [first, first];
    for (const [axis, by] of growth) {
      const step = this.#chunk.value(by);
      if (step.kind !== "uniform") throw new Error("a step is not the same in all lanes");
      // At most 2^31 in each direction, of which there are at most so many.
      const way = wasm.op("i64.mul", extended(step.scalar, true), wasm.local("i64", this.#extents.get(axis)!));
      const isBack = wasm.op("i64.lt_s", way, i64(0));
      least = plus(least, wasm.select(isBack, way, i64(0)));
      most = plus(most, wasm.select(isBack, i64(0), way));
    }
    const [lowest, highest] = isSigned ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
    const isExact = growth.size === 0 ? wasm.i32(1) : both(atLeast(least, i64(lowest)), atLeast(i64(highest), most));
    return { least, most, isExact };
  }

  /** Whether the threads of each block go on where those of the last one end, in what is read; null where that cannot be. */
  #isOneRow(read: readonly GridStride[], count: Wasm): Wasm {
    const width = wasm.local("i32", this.#width);
    const scalar = (expr: Expr): Wasm => {
      const value = this.#chunk.value(expr);
      if (value.kind !== "uniform") throw new Error("a step is not the same in all lanes");
      return value.scalar;
    };
    const goOn = read.map((growth) => {
      const [thread, block] = [growth.get("tid.x"), growth.get("ctaid.x")];
      if (thread === undefined || block === undefined || growth.size > 2) return wasm.i32(0);
      return wasm.op("i32.eq", scalar(block), wasm.op("i32.mul", scalar(thread), width));
    });
    const threads = wasm.op("i64.mul", extended(wasm.local("i32", this.#whole)), extended(count));
    const fits = wasm.op("i64.lt_u", threads, wasm.i64(2n ** 31n));
    return goOn.reduce(both, both(wasm.local("i32", this.#isFullRow), fits));
  }

  /**
   * What is done for blocks in which the tests hold: for each, or once for all if their threads are one row. `read`: how what is read grows;
   * null where that is not known. `prepare`: computes what the first chunk is told beforehand; `ticket`, `last`: locals with the block's and
   * with that behind the last one.
   */
  ifGood(
    { tests, read }: { readonly tests: readonly RangeTest[]; readonly read: readonly GridStride[] | null },
    prepare: () => void,
    ticket: number,
    last: number,
    then: () => void,
  ): void {
    const { writer: w } = this.#chunk;
    const local = (index: number): Wasm => wasm.local("i32", index);
    w.value(wasm.op("i32.lt_u", local(this.#left), local(this.#isThere)));
    w.if(() => {
      prepare();
      this.#chunk.begin();
      const tried = w.local("i32");
      const count = local(tried);
      const least = (a: Wasm, b: Wasm): Wasm => wasm.select(wasm.op("i32.lt_u", a, b), a, b);
      const behind = wasm.op("i32.sub", local(last), local(ticket));
      const inRow = this.#specials.blocksInRow();
      const most = least(local(this.#most), inRow === null ? behind : least(behind, inRow));
      const one = wasm.i32(1);
      w.assign([
        { local: tried, value: most },
        { local: this.#most, value: one },
      ]);
      w.loop((again) => {
        w.assign([{ local: this.#extents.get("ctaid.x")!, value: minus(extended(count), i64(1)) }]);
        w.value(tests.map((test) => test(this)).reduce(both, wasm.i32(1)));
        w.if(
          () => {
            w.assign([
              { local: this.#most, value: wasm.op("i32.shl", count, one) },
              { local: this.#left, value: count },
              { local: this.#span, value: local(this.#inRow) },
              { local: this.#skipped, value: wasm.i32(0) },
            ]);
            if (read === null) return;
            w.value(this.#isOneRow(read, count));
            w.if(() => {
              w.assign([
                { local: this.#left, value: one },
                { local: this.#span, value: wasm.op("i32.mul", local(this.#whole), count) },
                { local: this.#skipped, value: wasm.op("i32.sub", count, one) },
              ]);
            });
          },
          () => {
            w.value(wasm.op("i32.shr_u", count, one));
            w.tee(tried);
            w.brIf(again);
          },
        );
      });
      w.release(tried);
    });
    w.value(local(this.#left));
    w.expect(true);
    w.if(() => {
      w.assign([{ local: this.#left, value: wasm.op("i32.sub", local(this.#left), wasm.i32(1)) }]);
      then();
    });
  }

  /** Goes through those threads of a block, or of several that are one row, from the first chunk on. */
  eachChunk(ticket: number, beginRow: () => void, run: () => void): void {
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
        w.value(wasm.op("i32.lt_u", local(x), local(this.#span)));
        w.brIf(nextChunk);
      });
      this.#specials.nextRow();
      w.value(wasm.op("i32.sub", local(row), wasm.i32(1)));
      w.tee(row);
      w.brIf(nextRow);
    });
    // What is left of a row that is the whole block.
    this.#specials.placeInRow(local(this.#whole));
    w.value(local(this.#skipped));
    w.if(() => {
      w.assign([{ local: ticket, value: wasm.op("i32.add", local(ticket), local(this.#skipped)) }]);
      this.#specials.firstBlock(ticket);
    });
    for (const free of [x, row]) w.release(free);
  }
}
