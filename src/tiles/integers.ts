import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { columnOrder, integerLayout, pairs, registerBytes } from "./layout.ts";
import { writeTermLoop } from "./term-loop.ts";
import { TakenVectors } from "./taken-vectors.ts";
import { transposed } from "./widening.ts";

/** Pairs of elements in a round of the loop over them. */
const pairsInRound = 2;

/** Formats of integers whose products are formed in pairs of 16 bits. */
export type IntegerFormat = "s8" | "u8";

const op = wasm.op;
const v128 = (local: number): Wasm => wasm.local("v128", local);
const i32 = (local: number): Wasm => wasm.local("i32", local);

/** Of vectors of bytes, the even and the odd ones as integers of 16 bits. */
function split(format: IntegerFormat, x: Wasm): readonly [even: Wasm, odd: Wasm] {
  const shift = format === "s8" ? "i16x8.shr_s" : "i16x8.shr_u";
  return [op(shift, op("i16x8.shl", x, wasm.i32(8)), wasm.i32(8)), op(shift, x, wasm.i32(8))];
}

/**
 * Writes a function (from, to) that widens A. Of each four elements of a row the result has first the even ones, then,
 * 16 bytes later, the odd ones: pairs for `i32x4.dot_i16x8_s`.
 */
export function writeIntegersLeft(w: FunctionWriter, format: IntegerFormat, k: number): void {
  const { row } = integerLayout(k).left;
  const x = w.local("v128");
  for (let pair = 0; pair < pairs; pair++) {
    for (let half = 0; half < 2; half++) {
      for (let c = 0; c < k / 16; c++) {
        w.get(0);
        w.memory("v128.load", 16, registerBytes * (2 * c + half) + 16 * pair);
        w.set(x);
        split(format, v128(x)).forEach((value, i) => {
          w.values([i32(1), value]);
          w.memory("v128.store", 16, (2 * pair + half) * row + 32 * c + 16 * i);
        });
      }
    }
  }
}

/**
 * Writes a function (from, to) that widens B: pairs in the same order as those of A, of the even columns and the odd
 * ones.
 */
export function writeIntegersRight(w: FunctionWriter, format: IntegerFormat, k: number): void {
  const { step } = integerLayout(k).right;
  const vectors = new TakenVectors(w);
  for (let c = 0; c < k / 16; c++) {
    const columns = columnOrder.map((column) => vectors.load(i32(0), registerBytes * c + 16 * column));
    [columns.slice(0, 4), columns.slice(4)].forEach((four, parity) => {
      transposed(vectors, four, 4).forEach((words, i) => {
        split(format, words).forEach((value, odd) => {
          w.values([i32(1), value]);
          w.memory("v128.store", 16, step * (8 * c + 4 * odd + i) + 16 * parity);
        });
      });
    });
    vectors.release();
  }
}

/**
 * Writes a function (left, right, start, result) that multiplies integers of 8 bits and adds them to integers of 32
 * bits, exactly: sums wrap, or are clamped. A sum of 64 products has less than 23 bits. It returns 0.
 */
export function writeIntegerProduct(w: FunctionWriter, k: number, saturates: boolean): void {
  const { left, right } = integerLayout(k);
  const count = w.local("i32");
  const [splat, sums] = [w.local("v128"), [0, 1, 2, 3].map(() => w.local("v128"))];
  const columns = [w.local("v128"), w.local("v128")];
  const total = w.local("v128");
  const [row, column] = [w.local("i32"), w.local("i32")];
  const strides = [
    { local: row, bytes: 4 },
    { local: column, bytes: right.step },
  ];
  w.assign([{ local: count, value: wasm.i32(pairs) }]);
  w.loop((again) => {
    w.assign([
      ...sums.map((local) => ({ local, value: wasm.i32x4(0) })),
      { local: row, value: i32(0) },
      { local: column, value: i32(1) },
    ]);
    writeTermLoop(w, k / 2, pairsInRound, strides, (ahead) => {
      columns.forEach((local, parity) => {
        w.get(column);
        w.memory("v128.load", 16, right.step * ahead + 16 * parity);
        w.set(local);
      });
      for (let half = 0; half < 2; half++) {
        w.get(row);
        w.memory("v128.load32_splat", 4, half * left.row + 4 * ahead);
        w.set(splat);
        columns.forEach((local, parity) => {
          const sum = sums[2 * half + parity]!;
          const products = op("i32x4.dot_i16x8_s", v128(splat), v128(local));
          w.assign([{ local: sum, value: op("i32x4.add", v128(sum), products) }]);
        });
      }
    });
    sums.forEach((sum, i) => {
      w.get(2);
      w.memory("v128.load", 16, registerBytes * i);
      w.set(total);
      const both = op("i32x4.add", v128(total), v128(sum));
      w.values([i32(3), saturates ? clamped(v128(total), v128(sum), both) : both]);
      w.memory("v128.store", 16, registerBytes * i);
    });
    w.assign([
      { local: 0, value: op("i32.add", i32(0), wasm.i32(left.pair)) },
      { local: 2, value: op("i32.add", i32(2), wasm.i32(16)) },
      { local: 3, value: op("i32.add", i32(3), wasm.i32(16)) },
      { local: count, value: op("i32.sub", i32(count), wasm.i32(1)) },
    ]);
    w.get(count);
    w.brIf(again);
  });
  w.i32(0);
}

/** A sum, or the limit beyond which it is: then it has another sign than both parts. */
function clamped(a: Wasm, b: Wasm, sum: Wasm): Wasm {
  const isBeyond = op("v128.and", op("v128.xor", a, sum), op("v128.xor", b, sum));
  const limit = op("v128.xor", op("i32x4.shr_s", a, wasm.i32(31)), wasm.i32x4(0x7fff_ffff));
  return wasm.blend(op("i32x4.shr_s", isBeyond, wasm.i32(31)), limit, sum);
}
