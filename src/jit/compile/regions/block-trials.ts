import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { SpecialRegisters } from "../emit/special-registers.ts";
import type { RangeTest, RangeValues } from "./range-values.ts";
import type { RowParts } from "./row-parts.ts";

const local = (index: number): Wasm => wasm.local("i32", index);

/** The local with a block's index, and that with the one after the last. */
export interface BlocksLeft {
  readonly blockIndex: number;
  readonly end: number;
}

/**
 * Trials of as many blocks ahead as tests may hold for. A border of the grid is one block for the most part: if the
 * tests fail for all that are left in a row, all but the last are tried, and then the first alone. After each trial
 * that holds twice as many are tried, and after one that has come to the end of a row again all.
 */
export class BlockTrials {
  readonly #chunk: Chunk;
  readonly #specials: SpecialRegisters;
  readonly #values: RangeValues;
  /** Trials in a row that may fail before one block alone is tried. */
  readonly #patience: number;
  readonly #parts: RowParts | null;
  /** Blocks that are tried at once, at most, as an unsigned number; as a signed one -1 minus failures: a local. */
  readonly #max: number;

  /** `parts`: parts of the last block of a row, of which the longest for which the tests hold is found; or null. */
  constructor(
    chunk: Chunk,
    specials: SpecialRegisters,
    values: RangeValues,
    patience: number,
    parts: RowParts | null = null,
  ) {
    this.#chunk = chunk;
    this.#specials = specials;
    this.#values = values;
    this.#patience = patience;
    this.#parts = parts;
    this.#max = chunk.writer.local("i32");
    chunk.writer.assign([{ local: this.#max, value: wasm.i32(patience === 0 ? 1 : -1) }]);
  }

  /**
   * Writes code that tries blocks of a row of the grid, from the present one on. `prepare`: computes the first chunk's
   * invariants; `found`: is written for the number of blocks for which the tests hold.
   */
  write(
    tests: readonly RangeTest[],
    prepare: () => void,
    { blockIndex, end }: BlocksLeft,
    found: (count: Wasm) => void,
  ): void {
    const { writer: w } = this.#chunk;
    prepare();
    this.#chunk.begin();
    const [left, first, tried] = [w.local("i32"), w.local("i32"), w.local("i32")];
    const max = local(this.#max);
    const count = local(tried);
    const min = (a: Wasm, b: Wasm): Wasm => wasm.select(wasm.op("i32.lt_u", a, b), a, b);
    const after = wasm.op("i32.sub", local(end), local(blockIndex));
    const inRow = this.#specials.blocksInRow();
    const one = wasm.i32(1);
    const less = (of: Wasm): Wasm => wasm.op("i32.sub", of, one);
    const ahead = this.#parts?.blocksAhead(inRow) ?? inRow;
    w.assign([{ local: left, value: ahead === null ? after : min(after, ahead) }]);
    w.assign([{ local: first, value: min(max, local(left)) }]);
    const isPatient = wasm.op("i32.ge_u", max, wasm.i32(-this.#patience));
    w.assign([
      { local: tried, value: local(first) },
      { local: this.#max, value: this.#patience === 0 ? one : wasm.select(isPatient, less(max), one) },
    ]);
    this.#parts?.begin(local(left));
    w.loop((again) => {
      w.value(this.#values.holds(tests, count));
      w.if(
        () => {
          const isEnd = wasm.op("i32.ge_u", count, less(local(left)));
          const twice = wasm.op("i32.shl", count, one);
          w.assign([{ local: this.#max, value: wasm.select(isEnd, wasm.i32(-1), twice) }]);
          found(count);
        },
        () => {
          const isFirst = wasm.op("i32.eq", count, local(first));
          w.value(wasm.select(isFirst, less(count), wasm.op("i32.gt_u", count, one)));
          w.tee(tried);
          w.brIf(again);
          this.#parts?.failed(() => {
            w.assign([{ local: tried, value: one }]);
            w.br(again);
          });
        },
      );
    });
    for (const free of [left, first, tried]) w.release(free);
  }
}
