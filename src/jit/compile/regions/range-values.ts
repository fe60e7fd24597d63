import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Axis, GridStride } from "../analysis/values/grid-strides.ts";
import type { Chunk } from "../emit/chunk.ts";
import { baseOf } from "../emit/expressions.ts";
import { atLeast, both, extended, i64, minus, plus } from "../lanes/scalar.ts";

/** Whether (0 or 1) a condition holds for all threads of a range, given the registers of its first chunk. */
export type RangeTest = (range: RangeValues) => Wasm;

/**
 * The smallest and the largest value (i64) among the threads of a range, and whether (0 or 1) no value overflows 32
 * bits.
 */
export interface ValueRange {
  readonly min: Wasm;
  readonly max: Wasm;
  readonly isExact: Wasm;
}

/** Values of the threads of neighbouring blocks, of which the first chunk's are known. */
export class RangeValues {
  readonly #chunk: Chunk;
  readonly #extents: ReadonlyMap<Axis, number>;
  readonly #areRows: Wasm | null;

  /**
   * `extents`: by axis, a local (i64) with the distance of the last thread from the first; `areRows`: whether (0 or 1)
   * each block is a row of the grid, so that blocks are counted along `%ctaid.y`; null where they never are.
   */
  constructor(chunk: Chunk, extents: ReadonlyMap<Axis, number>, areRows: Wasm | null = null) {
    this.#chunk = chunk;
    this.#extents = extents;
    this.#areRows = areRows;
  }

  /** Whether (0 or 1) all tests hold for the first `count` blocks of rows. Writes what they need. */
  holds(tests: readonly RangeTest[], count: Wasm): Wasm {
    const [x, y] = [this.#extents.get("ctaid.x")!, this.#extents.get("ctaid.y")];
    const { writer } = this.#chunk;
    const value = minus(extended(count), i64(1));
    if (this.#areRows === null) writer.assign([{ local: x, value }]);
    else {
      const [along, down] = [wasm.select(this.#areRows, i64(0), value), wasm.select(this.#areRows, value, i64(0))];
      writer.assign([
        { local: x, value: along },
        { local: y!, value: down },
      ]);
    }
    return tests.map((test) => test(this)).reduce(both, wasm.i32(1));
  }

  /** The range of a 32-bit value, given its strides along the axes of the grid. */
  range(expr: Expr, strides: GridStride, isSigned: boolean): ValueRange {
    const value = this.#chunk.value(expr);
    if (value.kind === "vector" || value.kind === "indexed")
      throw new Error("a value with strides is not one of the first lane alone");
    const first = extended(baseOf(value), isSigned);
    let [min, max] = [first, first];
    for (const [axis, by] of strides) {
      const step = this.#chunk.value(by);
      if (step.kind !== "uniform") throw new Error("a step is not the same in all lanes");
      // The step is at most 2^31 in either direction, and so are the threads and blocks along an axis.
      const distance = wasm.op("i64.mul", extended(step.scalar, true), wasm.local("i64", this.#extents.get(axis)!));
      const isNegative = wasm.op("i64.lt_s", distance, i64(0));
      min = plus(min, wasm.select(isNegative, distance, i64(0)));
      max = plus(max, wasm.select(isNegative, i64(0), distance));
    }
    const [smallest, largest] = isSigned ? [-(2 ** 31), 2 ** 31 - 1] : [0, 2 ** 32 - 1];
    const isExact = strides.size === 0 ? wasm.i32(1) : both(atLeast(min, i64(smallest)), atLeast(i64(largest), max));
    return { min, max, isExact };
  }
}
