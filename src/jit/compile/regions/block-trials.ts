import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { SpecialRegisters } from "../emit/special-registers.ts";
import type { RangeTest, RangeValues } from "./range-values.ts";

const local = (index: number): Wasm => wasm.local("i32", index);

/** The local with a block's index, and that with the one after the last. */
export interface BlocksLeft {
  readonly blockIndex: number;
  readonly end: number;
}

/** Trials of as many blocks ahead as tests may hold for: fewer where they fail, and more again after they held. */
export class BlockTrials {
  readonly #chunk: Chunk;
  readonly #specials: SpecialRegisters;
  readonly #values: RangeValues;
  /** Blocks that are tried at once, at most: a local. */
  readonly #max: number;

  /** `max`: a local of its own, which is -1 at first. */
  constructor(chunk: Chunk, specials: SpecialRegisters, values: RangeValues, max: number) {
    this.#chunk = chunk;
    this.#specials = specials;
    this.#values = values;
    this.#max = max;
  }

  /**
   * Writes code that tries blocks of a row of the grid, from the present one on. `prepare`: computes the first chunk's
   * invariants; `found`: is written for the number of blocks for which the tests hold, after it is set that at most
   * `next` are tried from then on.
   */
  write(
    tests: readonly RangeTest[],
    prepare: () => void,
    { blockIndex, end }: BlocksLeft,
    { next, found }: { readonly next: (count: Wasm) => Wasm; readonly found: (count: Wasm) => void },
  ): void {
    const { writer: w } = this.#chunk;
    prepare();
    this.#chunk.begin();
    const tried = w.local("i32");
    const count = local(tried);
    const min = (a: Wasm, b: Wasm): Wasm => wasm.select(wasm.op("i32.lt_u", a, b), a, b);
    const after = wasm.op("i32.sub", local(end), local(blockIndex));
    const inRow = this.#specials.blocksInRow();
    const one = wasm.i32(1);
    w.assign([
      { local: tried, value: min(local(this.#max), inRow === null ? after : min(after, inRow)) },
      { local: this.#max, value: one },
    ]);
    w.loop((again) => {
      w.value(this.#values.holds(tests, count));
      w.if(
        () => {
          w.assign([{ local: this.#max, value: next(count) }]);
          found(count);
        },
        () => {
          w.value(wasm.op("i32.shr_u", count, one));
          w.tee(tried);
          w.brIf(again);
        },
      );
    });
    w.release(tried);
  }
}
