import { chunkBytes, uncutDescriptor } from "../ir/index.ts";
import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";
import { registerBytes } from "./layout.ts";
import { TakenVectors } from "./taken-vectors.ts";
import type { WriteOnce } from "./tile.ts";
import { transposed } from "./widening.ts";

/*
 * Code that finds the lines of matrices in shared memory by their descriptors: what `layoutOf` and `chunkAddress`
 * (ir/shared-matrix.ts) say, for eight lines at a time. In MN-major order elements have 16 bits.
 */

/** How a matrix lies in shared memory, and how many chunks of 16 bytes a line of it has along k. */
export interface LineOrder {
  readonly kMajor: boolean;
  readonly chunks: number;
}

const { op } = wasm;
const i32 = (local: number): Wasm => wasm.local("i32", local);
const v128 = (local: number): Wasm => wasm.local("v128", local);
const times = (a: Wasm, b: Wasm): Wasm => op("i32.mul", a, b);
const plus = (a: Wasm, b: Wasm): Wasm => op("i32.add", a, b);
const and = (a: Wasm, mask: number): Wasm => op("i32.and", a, wasm.i32(mask));

/** Lines in a group: its registers in a fragment have these one after the other. */
const linesOfGroup = 8;

/** Bytes of the rows in which a swizzle moves chunks. */
const swizzleRow = 128;

/** The fields of a descriptor, in locals, and the addresses that follow from them: those of `SharedMatrixLayout`. */
class Descriptor {
  readonly #w: FunctionWriter;
  readonly #kMajor: boolean;
  readonly #start: number;
  readonly #leading: number;
  readonly #stride: number;
  readonly #width: number;
  /** Where the swizzle's pattern begins, in bytes times 16. */
  readonly #base: number;

  /** `word`: the local with the descriptor. */
  constructor(w: FunctionWriter, word: number, kMajor: boolean) {
    this.#w = w;
    this.#kMajor = kMajor;
    const local = (value: Wasm): number => {
      const found = w.local("i32");
      w.assign([{ local: found, value }]);
      return found;
    };
    const field = (at: number): Wasm =>
      op("i32.wrap_i64", op("i64.shr_u", wasm.local("i64", word), wasm.i64(BigInt(at))));
    const low = local(field(0));
    const { bits, mark } = uncutDescriptor;
    const hasAll = op("i32.eq", and(i32(low), bits), wasm.i32(bits));
    const cut = wasm.select(hasAll, and(i32(low), ~bits), op("i32.sub", i32(low), wasm.i32(bits)));
    w.assign([{ local: low, value: wasm.select(and(i32(low), mark), cut, i32(low)) }]);
    const bytes = (units: Wasm): Wasm => op("i32.shl", and(units, 0x3fff), wasm.i32(4));
    this.#start = local(bytes(i32(low)));
    this.#leading = local(bytes(op("i32.shr_u", i32(low), wasm.i32(16))));
    this.#stride = local(bytes(field(32)));
    const code = field(62);
    this.#width = local(wasm.select(code, op("i32.shr_u", wasm.i32(256), code), wasm.i32(chunkBytes)));
    this.#base = local(op("i32.shl", and(field(49), 7), wasm.i32(4)));
  }

  get #isPlain(): Wasm {
    return op("i32.eq", i32(this.#width), wasm.i32(chunkBytes));
  }

  /** Bytes from one line of a group to the next. */
  get lineStep(): Wasm {
    return i32(this.#width);
  }

  /** Bytes from one chunk along k to the next. */
  get chunkStep(): Wasm {
    return wasm.select(this.#isPlain, i32(this.#leading), this.#kMajor ? wasm.i32(chunkBytes) : i32(this.#stride));
  }

  /** Where a group begins, before the swizzle. In MN-major order a group is a chunk, and several lie in the width. */
  groupAt(group: Wasm): Wasm {
    if (this.#kMajor) return this.#widthAt(group);
    const inner = op("i32.shl", op("i32.rem_u", group, this.#chunksInWidth), wasm.i32(4));
    return plus(this.#widthAt(group), inner);
  }

  /** Where the width begins in which a group lies. */
  #widthAt(group: Wasm): Wasm {
    const byStride = times(group, i32(this.#stride));
    if (this.#kMajor) return plus(i32(this.#start), byStride);
    const byLeading = times(op("i32.div_u", group, this.#chunksInWidth), i32(this.#leading));
    return plus(i32(this.#start), wasm.select(this.#isPlain, byStride, byLeading));
  }

  get #chunksInWidth(): Wasm {
    return op("i32.shr_u", i32(this.#width), wasm.i32(4));
  }

  swizzled(address: Wasm): Wasm {
    const row = op("i32.sub", op("i32.shr_u", address, wasm.i32(3)), i32(this.#base));
    return op("i32.xor", address, op("i32.and", row, op("i32.sub", i32(this.#width), wasm.i32(chunkBytes))));
  }

  /** The first and the last byte of the rows in which the swizzle leaves the chunks of groups. */
  bounds(group: Wasm, groups: number, chunks: number): readonly [first: Wasm, last: Wasm] {
    const lastWidth = this.#widthAt(plus(group, wasm.i32(groups - 1)));
    const lastLine = plus(
      times(this.chunkStep, wasm.i32(chunks - 1)),
      times(this.lineStep, wasm.i32(linesOfGroup - 1)),
    );
    const ofLine = this.#kMajor ? wasm.i32(chunkBytes) : i32(this.#width);
    const last = plus(plus(lastWidth, lastLine), op("i32.sub", ofLine, wasm.i32(1)));
    const first = this.#widthAt(group);
    return [
      wasm.select(this.#isPlain, first, and(first, -swizzleRow)),
      wasm.select(this.#isPlain, last, op("i32.or", last, wasm.i32(swizzleRow - 1))),
    ];
  }

  release(): void {
    for (const local of [this.#start, this.#leading, this.#stride, this.#width, this.#base]) this.#w.release(local);
  }
}

/**
 * Writes a function (shared, descriptor, group, to) that copies the chunks of a group of lines from shared memory,
 * which begins at the first parameter, to the registers of a fragment: in K-major order, one register for each chunk,
 * `spacing` registers from each other. It returns whether anything else lay there before.
 */
function writeLines(w: FunctionWriter, { kMajor, chunks }: LineOrder, spacing: number): void {
  const [shared, word, group, to] = [0, 1, 2, 3];
  const fields = new Descriptor(w, word!, kMajor);
  const [line, at, step] = [w.local("i32"), w.local("i32"), w.local("i32")];
  const change = w.local("v128");
  const vectors = new TakenVectors(w);
  w.assign([
    { local: line, value: fields.groupAt(i32(group!)) },
    { local: step, value: fields.lineStep },
    { local: change, value: wasm.i32x4(0) },
  ]);
  for (let chunk = 0; chunk < chunks; chunk++) {
    w.assign([{ local: at, value: i32(line) }]);
    const lines = Array.from({ length: linesOfGroup }, () => {
      const line = vectors.load(plus(i32(shared!), fields.swizzled(i32(at))));
      w.assign([{ local: at, value: plus(i32(at), i32(step)) }]);
      return line;
    });
    const found = kMajor ? lines : transposed(vectors, lines, 2);
    found.forEach((value, i) => {
      const place = registerBytes * spacing * chunk + chunkBytes * i;
      w.get(change);
      w.get(to!);
      w.memory("v128.load", 16, place);
      w.value(value);
      w.op("v128.xor");
      w.op("v128.or");
      w.set(change);
      w.values([i32(to!), value]);
      w.memory("v128.store", 16, place);
    });
    vectors.release();
    if (chunk + 1 < chunks) w.assign([{ local: line, value: plus(i32(line), fields.chunkStep) }]);
  }
  w.value(op("v128.any_true", v128(change)));
  fields.release();
  for (const local of [line, at, step, change]) w.release(local);
}

/** The name of a function that copies lines: see `writeLines`. */
export const linesFunction = (once: WriteOnce, order: LineOrder, spacing: number): string =>
  once(`lines:${order.kMajor}:${order.chunks}:${spacing}`, ["i32", "i64", "i32", "i32"], ["i32"], (w) =>
    writeLines(w, order, spacing),
  );

/**
 * The name of a function (descriptor, group) that returns the first and the last byte of shared memory, counted from
 * its beginning, among which all chunks of that group and of those after it are.
 */
export const boundsFunction = (once: WriteOnce, { kMajor, chunks }: LineOrder, groups: number): string =>
  once(`bounds:${kMajor}:${chunks}:${groups}`, ["i64", "i32"], ["i32", "i32"], (w) => {
    const fields = new Descriptor(w, 0, kMajor);
    w.values(fields.bounds(i32(1), groups, chunks));
    fields.release();
  });
