import type { TensorFormat } from "../numeric/tensor.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { containerBits, gridOf, lastBits, widen, type WideElements, widenSingles } from "./format.ts";
import { columnOrder, facts, leftLayout, pairs, registerBytes, rightLayout } from "./layout.ts";
import { TakenVectors } from "./taken-vectors.ts";
import type { Truncate } from "./truncation.ts";

const [fromLocal, toLocal] = [0, 1];
const from = wasm.local("i32", fromLocal);
const to = wasm.local("i32", toLocal);

/** Stands for numbers whose bits are not known. */
const noLimit = 1000;

/** Where numbers lie after they have been widened: groups of vectors one after the other. */
interface WideNumbers {
  readonly groups: number;
  /** Bytes from one group to the next. */
  readonly stride: number;
  readonly vectors: number;
}

/** Writes a part of a function from a register file's fragment to what products read. */
class Widening {
  readonly #w: FunctionWriter;
  readonly #vectors: TakenVectors;
  readonly #format: TensorFormat;
  readonly #truncate: Truncate;
  readonly #problems: number;
  /** All bits of the numbers on the grid, and where a number is not on it. */
  readonly #bits: number;
  readonly #rest: number;
  /** All bits of the elements as they were. */
  readonly #raw: number;

  constructor(w: FunctionWriter, format: TensorFormat, truncate: Truncate) {
    this.#w = w;
    this.#vectors = new TakenVectors(w);
    this.#format = format;
    this.#truncate = truncate;
    const local = (): number => w.local("v128");
    [this.#problems, this.#bits, this.#rest, this.#raw] = [local(), local(), local(), local()];
    const all = [this.#problems, this.#bits, this.#rest, this.#raw];
    w.assign(all.map((local) => ({ local, value: wasm.i32x4(0) })));
  }

  /** Elements of the fragment. */
  load(offset: number): Wasm {
    const elements = this.#vectors.load(from, offset);
    if (lastBits(this.#format) !== null) this.#collect(this.#raw, elements);
    return elements;
  }

  /** A local with a value that is used several times. */
  kept(value: Wasm): Wasm {
    return this.#vectors.kept(value);
  }

  store(offset: number, value: Wasm): void {
    this.#w.values([to, value]);
    this.#w.memory("v128.store", 16, offset);
  }

  /** Stores four numbers, and notes their bits where that is worth it. */
  storeNumber(offset: number, value: Wasm): void {
    const number = this.kept(value);
    this.store(offset, number);
    if (lastBits(this.#format) === null) this.#noteBits(number);
  }

  #noteBits(number: Wasm): void {
    const { bits, isComplete } = gridOf(this.#format);
    const scaled = wasm.op("f32x4.mul", number, wasm.f32x4(2 ** bits));
    const onGrid = this.#truncate(scaled);
    this.#collect(this.#bits, wasm.op("i32x4.abs", onGrid));
    if (isComplete) return;
    this.#collect(this.#rest, wasm.op("f32x4.ne", wasm.op("f32x4.convert_i32x4_s", this.kept(onGrid)), scaled));
  }

  note(problems: Wasm | null): void {
    if (problems !== null) this.#collect(this.#problems, problems);
  }

  #collect(local: number, more: Wasm): void {
    this.#w.assign([{ local, value: wasm.op("v128.or", wasm.local("v128", local), more) }]);
  }

  /**
   * Stores the facts `offset` bytes after the second address, where the numbers begin after `first` bytes. Sums are
   * rarely exact if a number has all the bits of its format. Where those are many, facts are only looked for if none
   * has.
   */
  storeFacts(offset: number, first: number, numbers: WideNumbers): void {
    const w = this.#w;
    w.values([to, wasm.op("v128.any_true", wasm.local("v128", this.#problems))]);
    w.memory("i32.store", 4, offset + facts.problems);
    const last = lastBits(this.#format);
    if (last === null) {
      this.#storeLimits(offset);
      return;
    }
    w.value(wasm.op("v128.any_true", wasm.op("v128.and", wasm.local("v128", this.#raw), wasm.i32x4(last))));
    w.if(
      () => {
        w.values([to, wasm.i32(0)]);
        w.memory("i32.store", 4, offset + facts.unit);
        w.values([to, wasm.i32(noLimit)]);
        w.memory("i32.store", 4, offset + facts.limit);
      },
      () => {
        this.#readBits(first, numbers);
        this.#storeLimits(offset);
      },
    );
  }

  /** Notes the bits of numbers that have been stored. */
  #readBits(first: number, { groups, stride, vectors }: WideNumbers): void {
    const w = this.#w;
    const [at, count] = [w.local("i32"), w.local("i32")];
    const plus = (local: number, bytes: number): Wasm => wasm.op("i32.add", wasm.local("i32", local), wasm.i32(bytes));
    w.assign([
      { local: at, value: plus(toLocal, first) },
      { local: count, value: wasm.i32(groups) },
    ]);
    w.loop((again) => {
      for (let i = 0; i < vectors; i++) this.#noteBits(this.#vectors.load(wasm.local("i32", at), 16 * i));
      this.#vectors.release();
      w.assign([
        { local: at, value: plus(at, stride) },
        { local: count, value: plus(count, -1) },
      ]);
      w.get(count);
      w.brIf(again);
    });
    w.release(at);
    w.release(count);
  }

  #storeLimits(offset: number): void {
    const w = this.#w;
    const { bits } = gridOf(this.#format);
    const all = w.local("i32");
    const or = (a: Wasm, b: Wasm): Wasm => wasm.op("i32.or", a, b);
    const lanes = [0, 1, 2, 3].map((lane) => wasm.lane("i32x4.extract_lane", lane, wasm.local("v128", this.#bits)));
    w.assign([{ local: all, value: lanes.reduce(or) }]);
    const found = wasm.local("i32", all);
    const put = (at: number, value: Wasm): void => {
      w.values([to, value]);
      w.memory("i32.store", 4, offset + at);
    };
    put(facts.unit, wasm.op("i32.sub", wasm.op("i32.ctz", found), wasm.i32(bits)));
    const limit = wasm.op("i32.sub", wasm.i32(32 - bits), wasm.op("i32.clz", found));
    // A number beyond the grid has become the least integer, or the largest, which is wide enough by itself.
    const isBeyond = or(
      wasm.op("i32.lt_s", found, wasm.i32(0)),
      wasm.op("v128.any_true", wasm.local("v128", this.#rest)),
    );
    put(facts.limit, wasm.select(isBeyond, wasm.i32(noLimit), limit));
    w.release(all);
  }

  /** No value of `load` or `kept` is needed any more. */
  release(): void {
    this.#vectors.release();
  }
}

/**
 * Writes a function (from, to) that widens A: its fragment has for each eight rows and each 16 bytes of a row a
 * register, the upper rows first, in which four lanes have a row.
 */
export function writeLeft(w: FunctionWriter, format: TensorFormat, k: number, truncate: Truncate): void {
  const { row, exponents, pair, facts: factsAt } = leftLayout(k);
  const chunks = (k * containerBits(format)) / 128;
  const part = new Widening(w, format, truncate);
  const count = w.local("i32");
  w.assign([{ local: count, value: wasm.i32(pairs) }]);
  w.loop((again) => {
    const both = [0, 1].map((half) => {
      const raw = Array.from({ length: chunks }, (_, c) => part.load(registerBytes * (2 * c + half)));
      return wideRow(part, format, raw, (i, value) => part.storeNumber(half * row + 16 * i, value));
    });
    for (let i = 0; i < both[0]!.length; i++) {
      const eights = repeated(part, wasm.op("i8x16.narrow_i16x8_s", both[0]![i]!, both[1]![i]!));
      eights.slice(0, k - 8 * i).forEach((eight, j) => {
        part.store(exponents + 16 * (8 * i + j), eight);
      });
    }
    part.release();
    w.assign([
      { local: fromLocal, value: wasm.op("i32.add", from, wasm.i32(16)) },
      { local: toLocal, value: wasm.op("i32.add", to, wasm.i32(pair)) },
      { local: count, value: wasm.op("i32.sub", wasm.local("i32", count), wasm.i32(1)) },
    ]);
    w.get(count);
    w.brIf(again);
  });
  // `to` is after all pairs now.
  part.storeFacts(factsAt - pairs * pair, -pairs * pair, { groups: pairs, stride: pair, vectors: k / 2 });
}

/**
 * Of a vector of bytes, for each of the first eight a vector of eight times that byte and eight times the one eight
 * places on.
 */
function repeated(part: Widening, bytes: Wasm): readonly Wasm[] {
  const kept = part.kept(bytes);
  let now = [
    part.kept(
      wasm.shuffle(
        kept,
        kept,
        Array.from({ length: 16 }, (_, i) => (i >> 1) + 8 * (i & 1)),
      ),
    ),
  ];
  for (const size of [1, 2, 4]) {
    now = now.flatMap((x) => [0, 8 / size].map((first) => part.kept(interleaved(x, x, first, size))));
  }
  return now;
}

/** Stores the numbers of a row, four at a time; returns the exponents, eight at a time. */
function wideRow(
  part: Widening,
  format: TensorFormat,
  raw: readonly Wasm[],
  store: (index: number, value: Wasm) => void,
): readonly Wasm[] {
  if (format === "tf32") {
    const found = raw.map((x, i) => {
      const { number, exponents, problems } = widenSingles(x);
      store(i, number);
      part.note(problems);
      return exponents;
    });
    return byTwos(found).map(([a, b]) => part.kept(wasm.op("i16x8.narrow_i32x4_s", a, b ?? a)));
  }
  return asEights(part, format, raw).map((x, i) => {
    const { low, high, exponents, problems } = widen(format, x);
    store(2 * i, low);
    store(2 * i + 1, high);
    part.note(problems);
    return part.kept(exponents);
  });
}

function byTwos<T>(list: readonly T[]): (readonly [T, T | undefined])[] {
  return Array.from({ length: Math.ceil(list.length / 2) }, (_, i) => [list[2 * i]!, list[2 * i + 1]]);
}

/** Vectors of eight elements, each in 16 bits. */
function asEights(part: Widening, format: TensorFormat, raw: readonly Wasm[]): readonly Wasm[] {
  if (containerBits(format) === 16) return raw;
  return raw.flatMap((x) => [
    part.kept(wasm.op("i16x8.extend_low_i8x16_u", x)),
    part.kept(wasm.op("i16x8.extend_high_i8x16_u", x)),
  ]);
}

/**
 * Writes a function (from, to) that widens B: its fragment has for each 16 bytes of a column a register, in which four
 * lanes have a column.
 */
export function writeRight(w: FunctionWriter, format: TensorFormat, k: number, truncate: Truncate): void {
  const { step, exponents, facts: factsAt } = rightLayout(k);
  const chunks = (k * containerBits(format)) / 128;
  const part = new Widening(w, format, truncate);
  for (let c = 0; c < chunks; c++) {
    const columns = columnOrder.map((column) => part.load(registerBytes * c + 16 * column));
    const rows = format === "tf32" ? wideSingles(part, columns) : wideRows(part, format, columns);
    rows.forEach(({ low, high, exponents: both, problems: found }, i) => {
      const at = step * (c * rows.length + i);
      part.storeNumber(at, low);
      part.storeNumber(at + 16, high);
      const eight = part.kept(both);
      part.store(at + exponents, wasm.op("i8x16.narrow_i16x8_s", eight, eight));
      part.note(found);
    });
    part.release();
  }
  part.storeFacts(factsAt, 0, { groups: k, stride: step, vectors: 2 });
}

/** Of eight columns the rows. */
function wideRows(
  part: Widening,
  format: Exclude<TensorFormat, "tf32">,
  columns: readonly Wasm[],
): readonly WideElements[] {
  const wide = columns.map((column) => asEights(part, format, [column]));
  return wide[0]!.flatMap((_, i) =>
    transposed(
      part,
      wide.map((column) => column[i]!),
      2,
    ).map((row) => widen(format, row)),
  );
}

function wideSingles(part: Widening, columns: readonly Wasm[]): readonly WideElements[] {
  const [even, odd] = [transposed(part, columns.slice(0, 4), 4), transposed(part, columns.slice(4), 4)];
  return even.map((x, i) => {
    const [low, high] = [widenSingles(x), widenSingles(odd[i]!)];
    return {
      low: low.number,
      high: high.number,
      exponents: wasm.op("i16x8.narrow_i32x4_s", low.exponents, high.exponents),
      problems: wasm.op("v128.or", low.problems, high.problems),
    };
  });
}

/**
 * Of as many vectors as they have elements of `bytes` bytes, the transposed ones: in each round two vectors whose
 * numbers differ in the highest bit are interleaved.
 */
export function transposed(
  keep: { kept(value: Wasm): Wasm },
  vectors: readonly Wasm[],
  bytes: number,
): readonly Wasm[] {
  const n = vectors.length;
  let now = vectors;
  for (let round = 1; round < n; round *= 2) {
    const last = now;
    now = last.flatMap((_, i) => {
      if (i >= n / 2) return [];
      return [0, n / 2].map((first) => keep.kept(interleaved(last[i]!, last[i + n / 2]!, first, bytes)));
    });
  }
  return now;
}

/** The elements of two vectors in turn, from one of the first on. */
function interleaved(a: Wasm, b: Wasm, first: number, bytes: number): Wasm {
  const bytesOf = (element: number, start: number): number[] =>
    Array.from({ length: bytes }, (_, i) => start + element * bytes + i);
  const elements = Array.from({ length: 8 / bytes }, (_, i) => [...bytesOf(first + i, 0), ...bytesOf(first + i, 16)]);
  return wasm.shuffle(a, b, elements.flat());
}
