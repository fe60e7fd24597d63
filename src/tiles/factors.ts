import type { TensorSum } from "../numeric/tensor.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { factorBytes, leftLayout, pairs, registerBytes, rightLayout } from "./layout.ts";
import { writeTermLoop } from "./term-loop.ts";
import type { Truncate } from "./truncation.ts";

/**
 * Exponents of accumulators. With zero products E may be less than the first, if the accumulator is zero or too small.
 * From there on both 2^(F - E) and 2^(E - F) are normal numbers.
 */
export const [smallest, largest] = [-101, 99];

/** Locals with addresses: of what a step multiplies, and of the accumulators to which it adds. */
export interface StepAddresses {
  /** The numbers of the first row of A, and its exponents. */
  readonly row: number;
  readonly exponents: number;
  /** The first element of all columns of B. */
  readonly column: number;
  readonly totals: number;
  /** Where the factors are left. */
  readonly factors: number;
}

/** Locals with what is noted of all sums. */
export interface Noted {
  /** The largest exponents, as a binary32 has them. */
  readonly most: number;
  /** The smallest exponents of the products of sums, in bytes; `smallest` of sums whose products all are zero. */
  readonly least: number;
}

const op = wasm.op;
const v128 = (local: number): Wasm => wasm.local("v128", local);
const i32 = (local: number): Wasm => wasm.local("i32", local);
const plus = (local: number, bytes: number): Wasm => op("i32.add", i32(local), wasm.i32(bytes));

/** Pairs of rows for which exponents are found at the same time: the exponents of B are loaded once for them. */
const together = 2;

/**
 * Writes code that finds, for each sum of a step of `count` products, the largest exponent E, and leaves 2^(F - E) and
 * the accumulator's term. It does so for a whole tile: chains of dependent operations are long, and those of different
 * rows are executed at the same time.
 */
export class FactorWriter {
  readonly #w: FunctionWriter;
  readonly #k: number;
  readonly #fraction: number;
  readonly #truncate: Truncate;
  readonly #at: StepAddresses;
  readonly #noted: Noted;

  constructor(w: FunctionWriter, k: number, sum: TensorSum, truncate: Truncate, at: StepAddresses, noted: Noted) {
    this.#w = w;
    this.#k = k;
    this.#fraction = sum.fraction;
    this.#truncate = truncate;
    this.#at = at;
    this.#noted = noted;
  }

  write(count: number): void {
    const w = this.#w;
    const { exponents, totals, factors } = this.#at;
    const { pair } = leftLayout(this.#k);
    const rest = w.local("i32");
    const own = { exponents: w.local("i32"), totals: w.local("i32"), factors: w.local("i32") };
    const found = Array.from({ length: together }, () => w.local("v128"));
    w.assign([
      { local: rest, value: wasm.i32(pairs / together) },
      { local: own.exponents, value: i32(exponents) },
      { local: own.totals, value: i32(totals) },
      { local: own.factors, value: i32(factors) },
    ]);
    w.loop((again) => {
      this.#findExponents(count, own.exponents, found);
      found.forEach((local, i) => {
        const least = op("i8x16.min_s", v128(this.#noted.least), v128(local));
        w.assign([{ local: this.#noted.least, value: least }]);
        this.#leaveFactors(local, own, i);
      });
      w.assign([
        { local: own.exponents, value: plus(own.exponents, pair * together) },
        { local: own.totals, value: plus(own.totals, 16 * together) },
        { local: own.factors, value: plus(own.factors, factorBytes * together) },
        { local: rest, value: plus(rest, -1) },
      ]);
      w.get(rest);
      w.brIf(again);
    });
    for (const local of [rest, ...Object.values(own), ...found]) w.release(local);
  }

  /** The largest exponents of the products of some pairs: a byte each, eight for either row. */
  #findExponents(count: number, from: number, found: readonly number[]): void {
    const w = this.#w;
    const { pair } = leftLayout(this.#k);
    const { step, exponents } = rightLayout(this.#k);
    const [row, column, ofColumns] = [w.local("i32"), w.local("i32"), w.local("v128")];
    w.assign([
      ...found.map((local) => ({ local, value: wasm.i16x8((smallest & 0xff) | (smallest << 8)) })),
      { local: row, value: i32(from) },
      { local: column, value: plus(this.#at.column, exponents) },
    ]);
    const strides = [
      { local: row, bytes: 16 },
      { local: column, bytes: step },
    ];
    writeTermLoop(w, count, 4, strides, (ahead) => {
      w.get(column);
      w.memory("v128.load", 16, step * ahead);
      w.set(ofColumns);
      found.forEach((local, i) => {
        w.get(local);
        w.get(row);
        w.memory("v128.load", 16, pair * i + 16 * ahead);
        w.get(ofColumns);
        w.op("i8x16.add_sat_s");
        w.op("i8x16.max_s");
        w.set(local);
      });
    });
    for (const local of [row, column, ofColumns]) w.release(local);
  }

  /** Leaves the factors and the accumulators' terms of the pair that is so many after the addresses. */
  #leaveFactors(found: number, at: { readonly totals: number; readonly factors: number }, pair: number): void {
    const w = this.#w;
    const { most } = this.#noted;
    const [fields, total, value] = [w.local("v128"), w.local("v128"), w.local("v128")];
    const store = (stored: Wasm, offset: number): void => {
      w.values([i32(at.factors), stored]);
      w.memory("v128.store", 16, factorBytes * pair + offset);
    };
    for (const row of [0, 1] as const) {
      // As in a binary32 in the upper half of 32 bits.
      const wide = op(`i16x8.extend_${row === 0 ? "low" : "high"}_i8x16_s`, v128(found));
      const field = op("i16x8.shl", op("i16x8.add", wide, wasm.i16x8(127)), wasm.i32(7));
      w.assign([{ local: fields, value: field }]);
      for (const parity of [0, 1]) {
        const i = 2 * row + parity;
        w.get(at.totals);
        w.memory("v128.load", 16, registerBytes * i + 16 * pair);
        w.set(total);
        const products = wasm.shuffle(wasm.i32x4(0), v128(fields), upperHalves[parity]!);
        const exponent = op("i32x4.max_s", products, op("v128.and", v128(total), wasm.i32x4(0xff << 23)));
        w.assign([{ local: value, value: exponent }]);
        w.assign([{ local: most, value: op("i32x4.max_s", v128(most), v128(value)) }]);
        const scale = op("i32x4.sub", wasm.i32x4((254 + this.#fraction) << 23), v128(value));
        w.assign([{ local: value, value: scale }]);
        store(v128(value), 32 * i);
        store(this.#truncate(op("f32x4.mul", v128(total), v128(value))), 32 * i + 16);
      }
    }
    for (const local of [fields, total, value]) w.release(local);
  }
}

/** Integers of 16 bits, the first four or the last four of the second vector, as the upper halves of 32 bits. */
const upperHalves = [0, 1].map((half) =>
  [0, 1, 2, 3].flatMap((i) => [0, 1, 16, 17].map((byte) => byte + 2 * (4 * half + i))),
);
