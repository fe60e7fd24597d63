import type { TensorSum } from "../numeric/tensor.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { writeTerms } from "./term-loop.ts";
import { facts, leftLayout, pairs, registerBytes, rightLayout } from "./layout.ts";

/*
 * Sums that are exact in binary32 in any order, and in which no term is truncated: those of integers, for example. All
 * elements of A are multiples of 2^u and less than 2^l, and those of B, of 2^v and less than 2^m. Then products are
 * multiples of 2^(u + v), and the sum of k of them is at most k 2^(l + m). If that is at most 2^(u + v + 22), and if
 * accumulators are multiples of 2^(u + v) of at most 2^(u + v + 22), all sums are multiples of 2^(u + v) of fewer than
 * 24 bits. No exponent is larger than u + v + 22, that of a zero product no larger than 45 - 126, so that terms keep
 * their last bit, of 2^(u + v), with 23 bits of fraction.
 */

const sumBits = 22;

/**
 * Units that are considered, as exponents: larger ones are multiples of the last. Dividing by one of these never makes
 * a number zero.
 */
const [leastUnit, mostUnit] = [-56, 0];

const op = wasm.op;
const [left, right, start, result] = [0, 1, 2, 3];
const v128 = (local: number): Wasm => wasm.local("v128", local);
const i32 = (local: number): Wasm => wasm.local("i32", local);

/**
 * Writes code that computes such sums where it finds that they are, and leaves the function with 0. Otherwise
 * parameters are unchanged, and nothing at `result` has a meaning.
 */
export function writeExactSums(
  w: FunctionWriter,
  k: number,
  { fraction, resultFraction }: TensorSum,
  relaxed: boolean,
): void {
  if (fraction < 23 || resultFraction !== 23) return;
  const unit = w.local("i32");
  const fact = (matrix: number, name: "unit" | "limit"): void => {
    w.get(matrix);
    w.memory("i32.load", 4, (matrix === left ? leftLayout(k) : rightLayout(k)).facts + facts[name]);
  };
  fact(left, "unit");
  fact(right, "unit");
  w.op("i32.add");
  w.set(unit);
  const isMore = op("i32.gt_s", i32(unit), wasm.i32(mostUnit));
  w.assign([{ local: unit, value: wasm.select(isMore, wasm.i32(mostUnit), i32(unit)) }]);
  fact(left, "limit");
  fact(right, "limit");
  w.op("i32.add");
  w.get(unit);
  w.op("i32.sub");
  w.i32(sumBits - Math.ceil(Math.log2(k)));
  w.op("i32.le_s");
  w.value(op("i32.ge_s", i32(unit), wasm.i32(leastUnit)));
  w.op("i32.and");
  w.if(() => writeLoop(w, k, unit, relaxed));
  w.release(unit);
}

function writeLoop(w: FunctionWriter, k: number, unit: number, relaxed: boolean): void {
  const vector = (): number => w.local("v128");
  const [scale, wrong, most] = [vector(), vector(), vector()];
  const totals = [0, 1, 2, 3].map(vector);
  const at = w.local("i32");
  // 2^-unit.
  const power = op("i32.shl", op("i32.sub", wasm.i32(127), i32(unit)), wasm.i32(23));
  w.assign([
    { local: scale, value: op("i32x4.splat", power) },
    { local: wrong, value: wasm.i32x4(0) },
    { local: most, value: wasm.i32x4(0) },
    { local: at, value: wasm.i32(0) },
  ]);
  w.loop((again) => {
    totals.forEach((total, i) => {
      w.value(op("i32.add", i32(start), i32(at)));
      w.memory("v128.load", 16, registerBytes * i);
      w.set(total);
      checkAccumulator(w, total, { scale, wrong, most });
    });
    writeTerms(w, k, { row: left, column: right }, { from: 0, count: k }, (products) => {
      totals.forEach((total, i) => {
        const [a, b] = products[i]!;
        const c = v128(total);
        // Nothing is rounded, so that it makes no difference how often it would be.
        const value = relaxed ? op("f32x4.relaxed_madd", a, b, c) : op("f32x4.add", op("f32x4.mul", a, b), c);
        w.assign([{ local: total, value }]);
      });
    });
    totals.forEach((total, i) => {
      // A sum of negative zeros is a positive one.
      w.values([op("i32.add", i32(result), i32(at)), op("f32x4.add", v128(total), wasm.f32x4(0))]);
      w.memory("v128.store", 16, registerBytes * i);
    });
    w.assign([
      { local: left, value: op("i32.add", i32(left), wasm.i32(leftLayout(k).pair)) },
      { local: at, value: op("i32.add", i32(at), wasm.i32(16)) },
    ]);
    w.value(op("i32.ne", i32(at), wasm.i32(16 * pairs)));
    w.brIf(again);
  });
  const tooLarge = op("f32x4.gt", v128(most), wasm.f32x4(2 ** sumBits));
  w.value(op("i32.eqz", op("v128.any_true", op("v128.or", v128(wrong), tooLarge))));
  w.if(() => {
    w.i32(0);
    w.return();
  });
  w.assign([{ local: left, value: op("i32.sub", i32(left), wasm.i32(pairs * leftLayout(k).pair)) }]);
  for (const local of [scale, wrong, most, ...totals, at]) w.release(local);
}

/** Notes accumulators that are not multiples of the unit, and the largest one, in units. */
function checkAccumulator(
  w: FunctionWriter,
  total: number,
  { scale, wrong, most }: { readonly scale: number; readonly wrong: number; readonly most: number },
): void {
  const scaled = w.local("v128");
  w.assign([{ local: scaled, value: op("f32x4.mul", v128(total), v128(scale)) }]);
  // Below 2^22, numbers are rounded to integers by an addition in whose result the last bit is 1.
  const round = wasm.f32x4(1.5 * 2 ** 23);
  const rounded = op("f32x4.sub", op("f32x4.add", v128(scaled), round), round);
  w.assign([
    { local: wrong, value: op("v128.or", v128(wrong), op("f32x4.ne", rounded, v128(scaled))) },
    { local: most, value: op("f32x4.max", v128(most), op("f32x4.abs", v128(scaled))) },
  ]);
  w.release(scaled);
}
