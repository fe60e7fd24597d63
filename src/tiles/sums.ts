import type { TensorSum } from "../numeric/tensor.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { writeExactSums } from "./exact-sums.ts";
import { facts, leftLayout, pairs, registerBytes, rightLayout } from "./layout.ts";
import { writeTermLoop, writeTerms } from "./term-loop.ts";
import { truncation, type Truncate } from "./truncation.ts";

/*
 * Sums of products as matrix units form them (numeric/tensor.ts), for four columns at a time. For each sum and each
 * step:
 *
 * - The largest exponent E of the products and the accumulator is found in integers: those of products in bytes, which
 *   saturate below all that matters.
 * - A product of binary32 is exact: its operands have at most 11 significant bits and exponents from -38 on. The
 *   product
 *   times 2^(F - E), where terms keep F bits of their fraction, is exact too, or less than 1. Its integer part is the
 *   aligned and truncated term, which is less than 2^(F + 2).
 * - Sixteen terms fit an integer of 32 bits: significands are at most 2 - 2^-10, and F at most 25, so that they are
 *   less
 *   than 16 (2 - 2^-10)^2 2^25 < 2^31 - 2^20.
 * - The sum times 2^(E - F) is truncated to binary32: of its magnitude the highest bit that has no place there is
 *   cleared, so that the conversion, which rounds to nearest, rounds down. Results are 0 or at least 2^-101.
 *
 * What this cannot do is found on the way, and then the function says so: elements whose exponents are beyond the
 * bounds, infinities, NaNs; accumulators of 2^100 and more, and those less than 2^-101, though not zero; sums of more
 * than 32 bits.
 */

/**
 * Exponents of accumulators. With zero products E may be less than the first, if the accumulator is zero or too small.
 * From there on both 2^(F - E) and 2^(E - F) are normal numbers.
 */
const [smallest, largest] = [-101, 99];

/** The most products whose terms are added in one integer of 32 bits. */
const mostTerms = 16;

const op = wasm.op;

/** Whether there is a function for such sums. */
export const hasSums = ({ fraction, products, half }: TensorSum): boolean =>
  !half && fraction <= 25 && products <= 2 * mostTerms;

const [left, right, start, result] = [0, 1, 2, 3];
const v128 = (local: number): Wasm => wasm.local("v128", local);
const i32 = (local: number): Wasm => wasm.local("i32", local);

/** Sums are those of row r, of the even and the odd columns, then of row r + 8. */
interface PairLocals {
  readonly temporary: number;
  readonly exponents: number;
  readonly sums: readonly number[];
  /** The first half of many terms. */
  readonly halves: readonly number[];
  readonly scales: readonly number[];
  readonly totals: readonly number[];
}

/**
 * Writes a function (left, right, start, result) that multiplies what `writeLeft` and `writeRight` have made, adds a
 * fragment of accumulators at `start`, and leaves such a fragment at `result`. It returns 0, or 1 if it cannot form
 * these sums; then nothing at `result` has a meaning.
 */
export class SumFunction {
  readonly #w: FunctionWriter;
  readonly #k: number;
  readonly #sum: TensorSum;
  readonly #relaxed: boolean;
  readonly #truncate: Truncate;
  readonly #locals: PairLocals;
  /** The largest and the smallest pattern of an accumulator, without its sign; the largest magnitude of a sum. */
  readonly #most: number;
  readonly #least: number;
  readonly #widest: number;

  /** `relaxed`: the machine has the instructions of relaxed SIMD. */
  constructor(w: FunctionWriter, k: number, sum: TensorSum, relaxed: boolean) {
    this.#w = w;
    this.#k = k;
    this.#sum = sum;
    this.#relaxed = relaxed;
    this.#truncate = truncation(relaxed);
    const vector = (): number => w.local("v128");
    const four = (): number[] => [0, 1, 2, 3].map(vector);
    this.#locals = {
      temporary: vector(),
      exponents: vector(),
      sums: four(),
      halves: Math.min(sum.products, k) > mostTerms ? four() : [],
      scales: four(),
      totals: four(),
    };
    [this.#most, this.#least, this.#widest] = [vector(), vector(), vector()];
  }

  write(): void {
    const w = this.#w;
    this.#leaveIfProblems();
    writeExactSums(w, this.#k, this.#sum, this.#relaxed);
    const count = w.local("i32");
    w.assign([
      { local: count, value: wasm.i32(pairs) },
      { local: this.#most, value: wasm.i32x4(0) },
      { local: this.#least, value: wasm.i32x4(-1) },
      { local: this.#widest, value: wasm.i32x4(0) },
    ]);
    const { pair } = leftLayout(this.#k);
    w.loop((again) => {
      this.#multiplyPair();
      w.assign([
        { local: left, value: op("i32.add", i32(left), wasm.i32(pair)) },
        { local: start, value: op("i32.add", i32(start), wasm.i32(16)) },
        { local: result, value: op("i32.add", i32(result), wasm.i32(16)) },
        { local: count, value: op("i32.sub", i32(count), wasm.i32(1)) },
      ]);
      w.get(count);
      w.brIf(again);
    });
    // Without the sign, patterns lie one bit further left; from the smallest one 1 has been subtracted.
    const huge = op("i32x4.ge_u", v128(this.#most), wasm.i32x4((largest + 1 + 127) << 24));
    const tiny = op("i32x4.lt_u", v128(this.#least), wasm.i32x4(((smallest + 127) << 24) - 1));
    const tooWide = op("i32x4.gt_u", v128(this.#widest), wasm.i32x4(2 ** 31 - 2 ** (this.#sum.fraction + 1) - 64));
    w.value(op("v128.any_true", op("v128.or", op("v128.or", huge, tiny), tooWide)));
  }

  #leaveIfProblems(): void {
    const w = this.#w;
    w.get(left);
    w.memory("i32.load", 4, leftLayout(this.#k).facts + facts.problems);
    w.get(right);
    w.memory("i32.load", 4, rightLayout(this.#k).facts + facts.problems);
    w.op("i32.or");
    w.expect(false);
    w.if(() => {
      w.i32(1);
      w.return();
    });
  }

  /** Whether sums might not fit an integer. */
  get #isWide(): boolean {
    const { products, fraction } = this.#sum;
    return Math.min(products, this.#k) * 2 ** (fraction + 2) > 2 ** 30;
  }

  #multiplyPair(): void {
    const w = this.#w;
    const { totals } = this.#locals;
    totals.forEach((total, i) => {
      w.get(start);
      w.memory("v128.load", 16, registerBytes * i);
      w.set(total);
    });
    this.#noteAccumulators();
    const { products } = this.#sum;
    for (let from = 0; from < this.#k; from += products) this.#step(from, Math.min(this.#k, from + products));
    totals.forEach((total, i) => {
      w.get(result);
      w.get(total);
      w.memory("v128.store", 16, registerBytes * i);
    });
  }

  #noteAccumulators(): void {
    for (const total of this.#locals.totals) {
      const pattern = op("i32x4.shl", v128(total), wasm.i32(1));
      // A zero becomes the largest integer.
      const less = op("i32x4.sub", pattern, wasm.i32x4(1));
      this.#w.assign([
        { local: this.#most, value: op("i32x4.max_u", v128(this.#most), pattern) },
        { local: this.#least, value: op("i32x4.min_u", v128(this.#least), less) },
      ]);
    }
  }

  #step(from: number, end: number): void {
    this.#findExponents(from, end);
    this.#findScales();
    for (let k = from; k < end; k += mostTerms) {
      this.#addTerms(k, Math.min(k + mostTerms, end) - k);
      if (end - from > mostTerms) this.#join(k === from);
    }
    this.#locals.totals.forEach((total, i) => {
      this.#finish(total, this.#locals.sums[i]!, this.#locals.scales[i]!);
    });
  }

  /** The largest exponent of the products of each sum: a byte each, eight for either row. */
  #findExponents(from: number, end: number): void {
    const w = this.#w;
    const { exponents } = this.#locals;
    const [ofLeft, ofRight] = [leftLayout(this.#k), rightLayout(this.#k)];
    const [row, column] = [w.local("i32"), w.local("i32")];
    w.assign([
      { local: exponents, value: wasm.i16x8((smallest & 0xff) | (smallest << 8)) },
      { local: row, value: op("i32.add", i32(left), wasm.i32(ofLeft.exponents + 16 * from)) },
      { local: column, value: op("i32.add", i32(right), wasm.i32(ofRight.exponents + ofRight.step * from)) },
    ]);
    const strides = [
      { local: row, bytes: 16 },
      { local: column, bytes: ofRight.step },
    ];
    writeTermLoop(w, end - from, 4, strides, (ahead) => {
      w.get(exponents);
      w.get(row);
      w.memory("v128.load", 16, 16 * ahead);
      w.get(column);
      w.memory("v128.load", 16, ofRight.step * ahead);
      w.op("i8x16.add_sat_s");
      w.op("i8x16.max_s");
      w.set(exponents);
    });
    w.release(row);
    w.release(column);
  }

  /** From the exponents and the accumulators, 2^(F - E) for each sum. */
  #findScales(): void {
    const w = this.#w;
    const { exponents, totals, scales, temporary } = this.#locals;
    for (const row of [0, 1] as const) {
      // As in a binary32 in the upper half of 32 bits.
      const wide = op(`i16x8.extend_${row === 0 ? "low" : "high"}_i8x16_s`, v128(exponents));
      const field = op("i16x8.shl", op("i16x8.add", wide, wasm.i16x8(127)), wasm.i32(7));
      w.assign([{ local: temporary, value: field }]);
      for (const parity of [0, 1]) {
        const i = 2 * row + parity;
        const products = wasm.shuffle(wasm.i32x4(0), v128(temporary), upperHalves[parity]!);
        const most = op("i32x4.max_s", products, op("v128.and", v128(totals[i]!), wasm.i32x4(0xff << 23)));
        const scale = op("i32x4.sub", wasm.i32x4((254 + this.#sum.fraction) << 23), most);
        w.assign([{ local: scales[i]!, value: scale }]);
      }
    }
  }

  #addTerms(from: number, count: number): void {
    const w = this.#w;
    const { sums, scales } = this.#locals;
    w.assign(sums.map((local) => ({ local, value: wasm.i32x4(0) })));
    writeTerms(w, this.#k, from, count, (products) => {
      sums.forEach((sum, i) => {
        const term = this.#truncate(op("f32x4.mul", op("f32x4.mul", ...products[i]!), v128(scales[i]!)));
        w.assign([{ local: sum, value: op("i32x4.add", v128(sum), term) }]);
      });
    });
  }

  /** Adds the first half of the terms, which is kept meanwhile, to the second. */
  #join(isFirst: boolean): void {
    const w = this.#w;
    const { sums, halves, temporary } = this.#locals;
    sums.forEach((sum, i) => {
      const [a, b, both] = [v128(sum), v128(halves[i]!), v128(temporary)];
      if (isFirst) {
        w.assign([{ local: halves[i]!, value: a }]);
        return;
      }
      w.assign([{ local: temporary, value: op("i32x4.add", a, b) }]);
      // A sum beyond 32 bits has another sign than both parts.
      const wrong = op("v128.and", op("v128.xor", a, both), op("v128.xor", b, both));
      const marked = op("i32x4.shr_u", op("i32x4.shr_s", wrong, wasm.i32(31)), wasm.i32(1));
      w.assign([
        { local: this.#widest, value: op("i32x4.max_u", v128(this.#widest), marked) },
        { local: sum, value: both },
      ]);
    });
  }

  /** Adds the accumulator to the products, and truncates the sum. */
  #finish(total: number, sum: number, scale: number): void {
    const w = this.#w;
    const { temporary } = this.#locals;
    const own = this.#truncate(op("f32x4.mul", v128(total), v128(scale)));
    w.assign([{ local: sum, value: op("i32x4.add", v128(sum), own) }]);
    w.assign([{ local: temporary, value: op("i32x4.abs", v128(sum)) }]);
    const magnitude = v128(temporary);
    if (this.#isWide) {
      // A sum that the accumulator has taken beyond 32 bits has a magnitude near 2^31, too.
      w.assign([{ local: this.#widest, value: op("i32x4.max_u", v128(this.#widest), magnitude) }]);
    }
    // Without the highest of the bits that a binary32 has no place for, rounding to nearest leaves all of them out.
    const cut = op("v128.andnot", magnitude, op("i32x4.shr_u", magnitude, wasm.i32(24)));
    const near = op("f32x4.convert_i32x4_s", cut);
    const { resultFraction } = this.#sum;
    const truncated = resultFraction === 23 ? near : op("v128.and", near, wasm.i32x4(-(2 ** (23 - resultFraction))));
    // 2^(E - F): the exponents of a binary32 and of its inverse add up to 254.
    const inverse = op("i32x4.sub", wasm.i32x4(254 << 23), v128(scale));
    const sign = op("v128.and", v128(sum), wasm.i32x4(-(2 ** 31)));
    w.assign([{ local: total, value: op("v128.or", op("f32x4.mul", truncated, inverse), sign) }]);
  }
}

/** Integers of 16 bits, the first four or the last four of the second vector, as the upper halves of 32 bits. */
const upperHalves = [0, 1].map((half) =>
  [0, 1, 2, 3].flatMap((i) => [0, 1, 16, 17].map((byte) => byte + 2 * (4 * half + i))),
);
