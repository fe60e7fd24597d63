import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { both, extended, i64, minus } from "../lanes/scalar.ts";

const local = (index: number): Wasm => wasm.local("i32", index);

/** Rows after which parts that are longer are tried again: a power of two. */
const rowsOfOneLength = 16;

/** What is the same for all rows: locals. */
interface Row {
  /** Its threads in full chunks. */
  readonly threads: number;
  /** The distance (i64) of the last thread that is tested from the first. */
  readonly extent: number;
  /** Whether (0 or 1) a block is one row. */
  readonly isBlock: number;
  /** Whether (0 or 1) each block is a row of the grid, and tests can be made for several rows; null: they never can. */
  readonly areRows: Wasm | null;
  /** The rows of the grid from the present one on. */
  readonly rowsLeft: Wasm | null;
}

/**
 * The beginning of a block that is one row, as many full chunks as tests hold for: of a matrix of which less is left in
 * each step, the last chunks of a row have nothing to do, and one of them has something to do in some of its lanes.
 * Neighbouring rows mostly have parts of one length. So it is found by halving, and tried first in the next row; where
 * nothing holds, there are no more parts.
 */
export class RowParts {
  readonly #writer: FunctionWriter;
  readonly #lanes: number;
  readonly #row: Row;
  /** The length of the part that is tried next, and whether (0 or 1) the present trial is of a part: locals. */
  readonly #next: number;
  readonly #isPart: number;
  /** The longest part that has held, and the shortest one that has not: locals. */
  readonly #holds: number;
  readonly #fails: number;

  constructor(writer: FunctionWriter, lanes: number, row: Row) {
    this.#writer = writer;
    this.#lanes = lanes;
    this.#row = row;
    this.#next = writer.local("i32");
    this.#isPart = writer.local("i32");
    this.#holds = writer.local("i32");
    this.#fails = writer.local("i32");
    this.#reopen();
    writer.assign([
      { local: this.#next, value: wasm.select(local(row.isBlock), local(row.threads), wasm.i32(0)) },
      { local: this.#holds, value: wasm.i32(0) },
      { local: this.#isPart, value: wasm.i32(0) },
    ]);
  }

  /** Any part may hold again. */
  #reopen(): void {
    const beyond = wasm.op("i32.add", local(this.#row.threads), wasm.i32(this.#lanes));
    this.#writer.assign([{ local: this.#fails, value: beyond }]);
  }

  /** The blocks that may be tried at once, given those that are left in a row of the grid. */
  blocksAhead(inRow: Wasm | null): Wasm | null {
    const { areRows, rowsLeft } = this.#row;
    return areRows === null || inRow === null ? inRow : wasm.select(areRows, rowsLeft!, inRow);
  }

  /** Begins trials of some blocks. */
  begin(blocks: Wasm): void {
    const { areRows } = this.#row;
    const isLast = wasm.op("i32.eq", blocks, wasm.i32(1));
    const isOne = areRows === null ? isLast : wasm.op("i32.or", areRows, isLast);
    this.#writer.assign([
      { local: this.#isPart, value: both(isOne, wasm.op("i32.ne", local(this.#next), wasm.i32(0))) },
    ]);
    this.#setExtent();
  }

  #setExtent(): void {
    const threads = wasm.select(local(this.#isPart), local(this.#next), local(this.#row.threads));
    this.#writer.assign([{ local: this.#row.extent, value: minus(extended(threads), i64(1)) }]);
  }

  /** The tests have failed for all that was tried. `again`: what is done if a shorter part is to be tried. */
  failed(again: () => void): void {
    const w = this.#writer;
    w.value(local(this.#isPart));
    w.if(() => {
      const isShorter = wasm.op("i32.lt_u", local(this.#holds), local(this.#next));
      w.assign([
        { local: this.#fails, value: local(this.#next) },
        { local: this.#holds, value: wasm.select(isShorter, local(this.#holds), wasm.i32(0)) },
      ]);
      this.#choose();
      w.value(local(this.#next));
      w.if(() => {
        this.#setExtent();
        again();
      });
      w.assign([{ local: this.#isPart, value: wasm.i32(0) }]);
    });
  }

  /**
   * They have held. `block`: the local with the index of the first block; `take`: is written for the threads of a part,
   * where it was one; `otherwise`: for whole blocks.
   */
  found(block: number, take: (threads: Wasm) => void, otherwise: () => void): void {
    const w = this.#writer;
    w.value(local(this.#isPart));
    w.if(() => {
      take(local(this.#next));
      w.assign([{ local: this.#holds, value: local(this.#next) }]);
      w.value(wasm.op("i32.eqz", wasm.op("i32.and", local(block), wasm.i32(rowsOfOneLength - 1))));
      w.if(() => this.#reopen());
      this.#choose();
    }, otherwise);
  }

  /** The part to try next lies in the middle between those that hold and those that do not. */
  #choose(): void {
    const between = wasm.op("i32.sub", local(this.#fails), local(this.#holds));
    const half = wasm.op("i32.and", wasm.op("i32.shr_u", between, wasm.i32(1)), wasm.i32(-this.#lanes));
    this.#writer.assign([{ local: this.#next, value: wasm.op("i32.add", local(this.#holds), half) }]);
  }
}
