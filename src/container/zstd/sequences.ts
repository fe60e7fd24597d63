import type { ByteView } from "../byte-view.ts";
import { BackwardBits } from "./backward-bits.ts";
import type { FrameState, TableName } from "./frame-state.ts";
import { buildFse, type FseTable, fseOf, nextState, readFse } from "./fse.ts";

/** Bits that are added to the base of a length's code; the bases lie as far apart as the bits need. */
const literalBits = [
  ...new Array<number>(16).fill(0),
  1,
  1,
  1,
  1,
  2,
  2,
  3,
  3,
  4,
  6,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  16,
];
const matchBits = [...new Array<number>(32).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5];
matchBits.push(7, 8, 9, 10, 11, 12, 13, 14, 15, 16);

const basesFrom = (first: number, bits: readonly number[]): Uint32Array => {
  let base = first;
  return Uint32Array.from(bits, (count) => (base += 2 ** count) - 2 ** count);
};
const literalBases = basesFrom(0, literalBits);
const matchBases = basesFrom(3, matchBits);

interface TableKind {
  readonly name: TableName;
  readonly maxLog: number;
  readonly maxSymbol: number;
  /** The table that needs no description (RFC 8878, section 3.1.1.3.2.2). */
  readonly usual: FseTable;
}

const few = -1;
const usualLiterals = [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1];
const usualMatches = [1, 4, 3, 2, 2, 2, 2, 2, 2, ...new Array<number>(37).fill(1), few, few, few, few, few, few, few];
const usualOffsets = [1, 1, 1, 1, 1, 1, 2, 2, 2, ...new Array<number>(15).fill(1), few, few, few, few, few];

/** In the order in which their descriptions stand. */
const kinds: readonly TableKind[] = [
  { name: "literals", maxLog: 9, maxSymbol: 35, usual: buildFse(6, [...usualLiterals, few, few, few, few]) },
  { name: "offsets", maxLog: 8, maxSymbol: 31, usual: buildFse(5, usualOffsets) },
  { name: "matches", maxLog: 9, maxSymbol: 52, usual: buildFse(6, usualMatches) },
];

/**
 * Reads the sequences of a block (RFC 8878, section 3.1.1.3.2), which ends where the view does, and carries them out.
 */
export function runSequences(view: ByteView, from: number, frame: FrameState, literals: Uint8Array): void {
  const { count, next } = countAt(view, from);
  if (count === 0 && next !== view.length) view.fail("a block without sequences goes on", next);
  const used = count === 0 ? 0 : new SequenceRun(view, readTables(view, next, frame), frame).run(count, literals);
  append(view, frame, literals.subarray(used));
}

function countAt(view: ByteView, from: number): { readonly count: number; readonly next: number } {
  const first = view.u8(from);
  if (first < 128) return { count: first, next: from + 1 };
  if (first < 255) return { count: ((first - 128) << 8) + view.u8(from + 1), next: from + 2 };
  return { count: view.u16(from + 1) + 0x7f00, next: from + 3 };
}

/** Makes the tables of a block those of the frame. Returns where the bits begin. */
function readTables(view: ByteView, from: number, frame: FrameState): number {
  const modes = view.u8(from);
  if ((modes & 3) !== 0) view.fail("a block has flags that are reserved", from);
  let at = from + 1;
  kinds.forEach(({ name, usual, ...limits }, i) => {
    const mode = (modes >> (6 - 2 * i)) & 3;
    if (mode === 0) frame.tables[name] = usual;
    else if (mode === 1) {
      const symbol = view.u8(at);
      if (symbol > limits.maxSymbol) view.fail(`there is no code ${symbol} for ${name}`, at);
      frame.tables[name] = fseOf(symbol);
      at++;
    } else if (mode === 2) {
      const { table, next } = readFse(view, at, limits);
      frame.tables[name] = table;
      at = next;
    } else if (frame.tables[name] === null) view.fail("a block needs a table of one before, and there is none", from);
  });
  return at;
}

function append(view: ByteView, frame: FrameState, bytes: Uint8Array): void {
  if (bytes.length > frame.end - frame.at) view.fail("there is more than was declared", view.length);
  frame.output.set(bytes, frame.at);
  frame.at += bytes.length;
}

class SequenceRun {
  readonly #view: ByteView;
  readonly #bits: BackwardBits;
  readonly #frame: FrameState;

  constructor(view: ByteView, from: number, frame: FrameState) {
    this.#view = view;
    this.#bits = new BackwardBits(view, from, view.length);
    this.#frame = frame;
  }

  /** Returns how many of the literals were used. */
  run(count: number, literals: Uint8Array): number {
    const bits = this.#bits;
    const frame = this.#frame;
    const {
      literals: literalTable,
      offsets: offsetTable,
      matches: matchTable,
    } = this.#frame.tables as Readonly<Record<TableName, FseTable>>;
    const stop = Math.min(frame.end, frame.at + frame.maxBlock);
    let literalState = bits.take(literalTable.log);
    let offsetState = bits.take(offsetTable.log);
    let matchState = bits.take(matchTable.log);
    let used = 0;
    for (let i = 0; i < count; i++) {
      if (i > 0) {
        literalState = nextState(literalTable, literalState, bits);
        matchState = nextState(matchTable, matchState, bits);
        offsetState = nextState(offsetTable, offsetState, bits);
      }
      const offsetCode = offsetTable.symbols[offsetState]!;
      const matchCode = matchTable.symbols[matchState]!;
      const literalCode = literalTable.symbols[literalState]!;
      const offset = 2 ** offsetCode + bits.take(offsetCode);
      const length = matchBases[matchCode]! + bits.take(matchBits[matchCode]!);
      const fresh = literalBases[literalCode]! + bits.take(literalBits[literalCode]!);
      if (fresh > literals.length - used) this.#fail("there are fewer literals than sequences need");
      if (fresh + length > stop - frame.at) this.#fail("a block stands for more than it may");
      for (const end = used + fresh; used < end; ) frame.output[frame.at++] = literals[used++]!;
      this.#copy(this.#distance(offset, fresh === 0), length);
    }
    bits.finish();
    return used;
  }

  /** The distance for a number: up to 3 it is one of the last three distances, or less by one than the last. */
  #distance(offset: number, hasNoLiterals: boolean): number {
    const recent = this.#frame.recent;
    if (offset > 3) {
      [recent[1], recent[2]] = [recent[0], recent[1]];
      return (recent[0] = offset - 3);
    }
    const place = offset - 1 + (hasNoLiterals ? 1 : 0);
    if (place === 0) return recent[0];
    const distance = place === 3 ? recent[0] - 1 : recent[place]!;
    if (place !== 1) recent[2] = recent[1];
    recent[1] = recent[0];
    return (recent[0] = distance);
  }

  #copy(distance: number, length: number): void {
    const { output, at, begin, window } = this.#frame;
    if (distance === 0) this.#fail("a distance is 0");
    if (distance > at - begin) this.#fail("a distance points before the beginning");
    if (distance > window) this.#fail("a distance is larger than the window");
    const end = at + length;
    // Byte by byte where what is copied may overlap with what it makes.
    if (distance >= length && length > 32) output.copyWithin(at, at - distance, at - distance + length);
    else for (let to = at; to < end; to++) output[to] = output[to - distance]!;
    this.#frame.at = end;
  }

  #fail(why: string): never {
    return this.#view.fail(why, this.#view.length);
  }
}
