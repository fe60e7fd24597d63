import type { TensorSum } from "../numeric/tensor.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { writeExactSums } from "./exact-sums.ts";
import { FactorWriter, largest, smallest } from "./factors.ts";
import { factorBytes, facts, leftLayout, pairs, registerBytes, rightLayout } from "./layout.ts";
import { type TermAddresses, writeTerms } from "./term-loop.ts";
import { truncation, type Truncate } from "./truncation.ts";

/*
 * Sums of products as matrix units form them (numeric/tensor.ts), for four columns at a time. For each sum and each
 * step:
 *
 * - The largest exponent E of the products and the accumulator is found in integers: those of products in bytes, which
 *   saturate below all that matters.
 * - A product of binary32 is exact: its operands have at most 11 significant bits and exponents from -38 on. The
 *   product times 2^(F - E), where terms keep F bits of their fraction, is exact too, or less than 1. Its integer part
 *   is the aligned and truncated term, which is less than 2^(F + 2).
 * - Sixteen terms fit an integer of 32 bits: significands are at most 2 - 2^-10, and F at most 25, so that they are
 *   less than 16 (2 - 2^-10)^2 2^25 < 2^31 - 2^20.
 * - The sum times 2^(E - F) is truncated to binary32: of its magnitude the highest bit that has no place there is
 *   cleared, so that the conversion, which rounds to nearest, rounds down. Results are 0 or at least 2^-101.
 *
 * What this cannot do is found on the way, and then the function says so: elements whose exponents are beyond the
 * bounds, infinities, NaNs; accumulators of 2^100 and more; those less than 2^-101, though not zero, if there is a sum
 * whose products all are zero; sums of more than 32 bits.
 */

/** The most products whose terms are added in one integer of 32 bits. */
const mostTerms = 16;

const op = wasm.op;

/** Whether there is a function for such sums. */
export const hasSums = ({ fraction, products, half }: TensorSum): boolean =>
  !half && fraction <= 25 && products <= 2 * mostTerms;

const [left, right, start, result] = [0, 1, 2, 3];
const v128 = (local: number): Wasm => wasm.local("v128", local);
const i32 = (local: number): Wasm => wasm.local("i32", local);
const plus = (local: number, bytes: number): Wasm => op("i32.add", i32(local), wasm.i32(bytes));
const zeros = wasm.f32x4(0);

/** Sums are those of row r, of the even and the odd columns, then of row r + 8. */
interface PairLocals {
  readonly temporary: number;
  readonly sums: readonly number[];
  /** The first half of many terms. */
  readonly halves: readonly number[];
  readonly scales: readonly number[];
}

/** Locals with addresses of what a pair of rows reads and writes. */
interface PairAddresses extends TermAddresses {
  readonly factors: number;
  readonly result: number;
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
  /** Products of a step. */
  readonly #products: number;
  /** The largest exponent of a sum, as in a binary32; the smallest of a sum's products; the largest magnitude. */
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
    this.#products = Math.min(sum.products, k);
    const vector = (): number => w.local("v128");
    const four = (): number[] => [0, 1, 2, 3].map(vector);
    this.#locals = {
      temporary: vector(),
      sums: four(),
      halves: this.#products > mostTerms ? four() : [],
      scales: four(),
    };
    [this.#most, this.#least, this.#widest] = [vector(), vector(), vector()];
  }

  write(): void {
    const w = this.#w;
    this.#leaveIfProblems();
    writeExactSums(w, this.#k, this.#sum, this.#relaxed);
    w.assign([
      { local: this.#most, value: wasm.i32x4(0) },
      { local: this.#least, value: wasm.i32x4(0x7f7f_7f7f) },
      { local: this.#widest, value: wasm.i32x4(0) },
    ]);
    for (let from = 0; from < this.#k; from += this.#products) this.#step(from);
    const huge = op("i32x4.gt_s", v128(this.#most), wasm.i32x4((largest + 127) << 23));
    const tooWide = op("i32x4.gt_u", v128(this.#widest), wasm.i32x4(2 ** 31 - 2 ** (this.#sum.fraction + 1) - 64));
    w.value(op("v128.any_true", op("v128.or", huge, tooWide)));
  }

  /** Adds the products of the elements of k from `from` on. */
  #step(from: number): void {
    const w = this.#w;
    const local = (): number => w.local("i32");
    const at = { row: local(), column: local(), exponents: local(), totals: local(), factors: local() };
    const ofLeft = leftLayout(this.#k);
    const isFirst = from === 0;
    w.assign([
      { local: at.row, value: plus(left, 4 * from) },
      { local: at.column, value: plus(right, rightLayout(this.#k).step * from) },
      { local: at.exponents, value: plus(left, ofLeft.exponents + 16 * from) },
      { local: at.totals, value: i32(isFirst ? start : result) },
      { local: at.factors, value: plus(left, ofLeft.factors) },
    ]);
    const noted = { most: this.#most, least: this.#least };
    new FactorWriter(w, this.#k, this.#sum, this.#truncate, at, noted).write(this.#products);
    if (isFirst) this.#leaveIfTiny();
    const [rest, to] = [local(), local()];
    w.assign([
      { local: rest, value: wasm.i32(pairs) },
      { local: to, value: i32(result) },
    ]);
    w.loop((again) => {
      this.#multiplyPair({ row: at.row, column: at.column, factors: at.factors, result: to });
      w.assign([
        { local: at.row, value: plus(at.row, ofLeft.pair) },
        { local: at.factors, value: plus(at.factors, factorBytes) },
        { local: to, value: plus(to, 16) },
        { local: rest, value: plus(rest, -1) },
      ]);
      w.get(rest);
      w.brIf(again);
    });
    for (const used of [...Object.values(at), rest, to]) w.release(used);
  }

  #leaveIfProblems(): void {
    const w = this.#w;
    w.get(left);
    w.memory("i32.load", 4, leftLayout(this.#k).facts + facts.problems);
    w.get(right);
    w.memory("i32.load", 4, rightLayout(this.#k).facts + facts.problems);
    w.op("i32.or");
    this.#leave();
  }

  /**
   * A sum whose largest exponent is less than `smallest` has only products of zeros, and an accumulator less than
   * 2^smallest, of which aligned to `smallest` bits are lost. What later steps begin with is a multiple of the last bit
   * of a term that is aligned to `smallest`: it loses none.
   */
  #leaveIfTiny(): void {
    const w = this.#w;
    const isLeast = op("i8x16.eq", v128(this.#least), wasm.i16x8((smallest & 0xff) | (smallest << 8)));
    w.value(op("v128.any_true", isLeast));
    w.expect(false);
    w.if(() => {
      const [at, rest, tiny, total] = [w.local("i32"), w.local("i32"), w.local("v128"), w.local("v128")];
      w.assign([
        { local: at, value: i32(start) },
        { local: rest, value: wasm.i32((4 * registerBytes) / 16) },
        { local: tiny, value: wasm.i32x4(0) },
      ]);
      w.loop((again) => {
        w.get(at);
        w.memory("v128.load", 16);
        w.set(total);
        const size = op("f32x4.abs", v128(total));
        const isTiny = op("v128.and", op("f32x4.lt", size, wasm.f32x4(2 ** smallest)), op("f32x4.gt", size, zeros));
        w.assign([
          { local: tiny, value: op("v128.or", v128(tiny), isTiny) },
          { local: at, value: plus(at, 16) },
          { local: rest, value: plus(rest, -1) },
        ]);
        w.get(rest);
        w.brIf(again);
      });
      w.value(op("v128.any_true", v128(tiny)));
      this.#leave();
      for (const local of [at, rest, tiny, total]) w.release(local);
    });
  }

  /** Leaves the function with 1 if the value on the stack is not 0. */
  #leave(): void {
    const w = this.#w;
    w.expect(false);
    w.if(() => {
      w.i32(1);
      w.return();
    });
  }

  /** Whether sums might not fit an integer. */
  get #isWide(): boolean {
    return this.#products * 2 ** (this.#sum.fraction + 2) > 2 ** 30;
  }

  #multiplyPair(at: PairAddresses): void {
    const w = this.#w;
    const { sums, scales } = this.#locals;
    const load = (local: number, offset: number): void => {
      w.get(at.factors);
      w.memory("v128.load", 16, offset);
      w.set(local);
    };
    scales.forEach((scale, i) => {
      load(scale, 32 * i);
    });
    const hasHalves = this.#products > mostTerms;
    for (let from = 0; from < this.#products; from += mostTerms) {
      // The accumulator's term may take a sum beyond 32 bits, after which it is not seen where halves are joined.
      if (hasHalves) w.assign(sums.map((local) => ({ local, value: wasm.i32x4(0) })));
      else {
        sums.forEach((sum, i) => {
          load(sum, 32 * i + 16);
        });
      }
      this.#addTerms(at, from, Math.min(mostTerms, this.#products - from));
      if (hasHalves) this.#join(from === 0);
    }
    sums.forEach((sum, i) => {
      if (hasHalves) {
        load(this.#locals.temporary, 32 * i + 16);
        w.assign([{ local: sum, value: op("i32x4.add", v128(sum), v128(this.#locals.temporary)) }]);
      }
      const total = this.#rounded(sum, scales[i]!);
      w.values([i32(at.result), total]);
      w.memory("v128.store", 16, registerBytes * i);
    });
  }

  #addTerms(at: TermAddresses, from: number, count: number): void {
    const w = this.#w;
    const { sums, scales } = this.#locals;
    writeTerms(w, this.#k, at, { from, count }, (products) => {
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

  /** A sum, truncated to binary32. */
  #rounded(sum: number, scale: number): Wasm {
    const w = this.#w;
    const { temporary } = this.#locals;
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
    return op("v128.or", op("f32x4.mul", truncated, inverse), sign);
  }
}
