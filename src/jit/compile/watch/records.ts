import { type Expr, kit as k } from "../../../semantics/index.ts";
import type { Plane } from "./shadow-plan.ts";

/** The words that are noted of a cell's last write, or of the reads since: who, and perhaps in which interval. */
export type CellRecord = readonly Expr[];

/** How the threads that access a cell are noted. */
export interface RecordRules {
  /** The planes of writes and of reads, in the order of a record's words. */
  readonly planes: { readonly written: readonly Plane[]; readonly read: readonly Plane[] };
  /** The record of an access that this thread makes now. */
  readonly mine: CellRecord;
  /** Whether others made the accesses of a record, or some of them, and nothing orders these before this thread. */
  conflicts(record: CellRecord): Expr;
  /** Whether a record is one of this thread alone, at the present time, and of weak accesses. */
  isMine(record: CellRecord): Expr;
  /** Whether a record that conflicts is one of strong accesses alone, as far as this thread is concerned. */
  isStrong(record: CellRecord): Expr;
  /** Whether it is one of strong accesses, and perhaps of weak ones, too. */
  hasStrong(record: CellRecord): Expr;
  /** The record of weak accesses of this thread and, where it `conflicts`, those of an earlier record. */
  several(record: CellRecord, conflicts: Expr): CellRecord;
  /** That of a strong access of this thread after an earlier record, which is strong, too, if it `conflicts`. */
  strong(record: CellRecord, conflicts: Expr): CellRecord;
  /** The same as `several` for any earlier record, if that can be said: it is uniform. */
  readonly all: CellRecord | null;
  /** Whether nothing has been written to a cell; null where that is not noted. */
  isUnwritten: ((record: CellRecord) => Expr) | null;
}

/**
 * Bits of a record of shared memory that say who made an access: the number of the warp, from 1, and the lane, or a
 * code for several lanes; 0 stands for several warps. Above these bits is the time.
 */
export const threadBits = 12;
const laneBits = 6;
/**
 * `strongAfterWeak`: the warp has also made a weak access in the interval, before it met; `both`: a thread has just
 * made a weak access and then a strong one.
 */
const codes = { weak: 32, strong: 33, strongAfterWeak: 34, both: 35 } as const;
const lanesMask = 2 ** laneBits - 1;

/** The code of a thread, by its number in the block. */
export const threadCode = (thread: Expr): Expr =>
  k.add(k.and(thread, k.i32(31)), k.shl(k.add(k.shr(thread, k.i32(5), false), k.i32(1)), k.i32(laneBits)));

const hasCode = (word: Expr, code: number): Expr => k.eq(k.and(word, k.i32(lanesMask)), k.i32(code));

/**
 * A word is the time and the thread; 0 if there was no access. A time is an interval between barriers, from 1, and, in
 * its lower bits, how often the warp has met since. Memory begins as zeros in each block.
 */
export class SharedRecords implements RecordRules {
  readonly planes = { written: ["writer"], read: ["reader"] } as const;
  readonly mine: readonly [Expr];
  readonly all: readonly [Expr];
  readonly #time: Expr;
  readonly #timeBits: number;

  /**
   * `own`: the word for this thread at the present time; `time`: the same without the thread; `meetingBits`: how many
   * lower bits of a time count meetings.
   */
  constructor(own: Expr, time: Expr, meetingBits: number) {
    this.mine = [own];
    this.#time = time;
    this.all = [this.#ofAll(k.i32(codes.weak))];
    this.#timeBits = threadBits + meetingBits;
  }

  /** Lanes of the warp have the same time and are not this one; other threads the same interval. */
  conflicts([word]: CellRecord): Expr {
    const other = k.xor(word!, this.mine[0]);
    const atSameTime = k.lt(k.sub(other, k.i32(1)), k.i32(2 ** threadBits - 1), false);
    if (this.#timeBits === threadBits) return atSameTime;
    const inInterval = k.lt(other, k.i32(2 ** this.#timeBits), false);
    return k.op("pred.or", atSameTime, k.op("pred.and", inInterval, k.not(this.#isInWarp(other))));
  }

  isMine([word]: CellRecord): Expr {
    return k.eq(word!, this.mine[0]);
  }

  hasStrong([word]: CellRecord): Expr {
    return k.lt(k.i32(codes.weak), k.and(word!, k.i32(lanesMask)), false);
  }

  isStrong([word]: CellRecord): Expr {
    const isAlways = hasCode(word!, codes.strong);
    if (this.#timeBits === threadBits) return isAlways;
    const isWithin = k.op(
      "pred.and",
      hasCode(word!, codes.strongAfterWeak),
      this.#isInWarp(k.xor(word!, this.mine[0])),
    );
    return k.op("pred.or", isAlways, isWithin);
  }

  several(record: CellRecord, conflicts: Expr): CellRecord {
    return this.#severalOf(k.i32(codes.weak), record, conflicts);
  }

  strong(record: CellRecord, conflicts: Expr): CellRecord {
    const code = k.select(this.isMine(record), k.i32(codes.both), this.#strongCode(record[0]!, conflicts));
    return this.#severalOf(code, record, conflicts);
  }

  /** What the warp has done before it met is ordered for its lanes alone. */
  #strongCode(word: Expr, conflicts: Expr): Expr {
    const strong = k.i32(codes.strong);
    if (this.#timeBits === threadBits) return strong;
    const inInterval = k.lt(k.xor(word, this.mine[0]), k.i32(2 ** this.#timeBits), false);
    const isWeak = k.op("pred.and", inInterval, k.not(hasCode(word, codes.strong)));
    return k.select(k.op("pred.and", isWeak, k.not(conflicts)), k.i32(codes.strongAfterWeak), strong);
  }

  readonly isUnwritten = ([word]: CellRecord): Expr => k.eq(word!, k.i32(0));

  /** Of lanes of this warp or, where an earlier record that `conflicts` is of another one, of any. */
  #severalOf(code: Expr, [word]: CellRecord, conflicts: Expr): CellRecord {
    if (this.#timeBits === threadBits) return [this.#ofAll(code)];
    const isFar = k.op("pred.and", conflicts, k.not(this.#isInWarp(k.xor(word!, this.mine[0]))));
    const ofWarp = k.or(k.and(this.mine[0], k.i32(~lanesMask)), code);
    return [k.select(isFar, this.#ofAll(code), ofWarp)];
  }

  #ofAll(code: Expr): Expr {
    return k.add(this.#time, code);
  }

  /** Whether a record is of this warp, by what its word and that of this thread differ in. */
  #isInWarp(other: Expr): Expr {
    return k.eq(k.and(other, k.i32(2 ** threadBits - 2 ** laneBits)), k.i32(0));
  }
}

/**
 * Bits of a word of global memory above a thread's number: it is of several threads' weak accesses, or of strong ones.
 * Both: the block of the number has made strong accesses after weak ones that are ordered for its threads; or, if it is
 * the launch's first number, a thread has just made a weak access and then a strong one.
 */
const flags = { weak: -0x8000_0000, strong: 0x4000_0000 } as const;
/** Bits of a thread's number. */
export const numberBits = 30;

const isOfStrong = (word: Expr): Expr => k.ne(k.and(word, k.i32(flags.strong)), k.i32(0));

/** Whether a word is one of the present launch, the first number of which is known. */
const isPresent = (first: Expr, word: Expr): Expr => k.le(first, k.and(word, k.i32(2 ** numberBits - 1)), false);

/**
 * Threads are numbered through all launches, so that what earlier ones have noted need not be cleared: it is less than
 * the first number of the launch, which stands for several threads. Without intervals, a word is a thread's number.
 */
export class GlobalRecords implements RecordRules {
  readonly planes = { written: ["writer"], read: ["reader"] } as const;
  readonly isUnwritten = null;
  readonly mine: readonly [Expr];
  readonly all: readonly [Expr];
  readonly #strong: Expr;
  readonly #first: Expr;

  constructor(own: Expr, first: Expr) {
    this.mine = [own];
    this.all = [first];
    this.#strong = k.or(first, k.i32(flags.strong));
    this.#first = first;
  }

  conflicts([word]: CellRecord): Expr {
    return k.op("pred.and", isPresent(this.#first, word!), k.ne(word!, this.mine[0]));
  }

  isMine([word]: CellRecord): Expr {
    return k.eq(word!, this.mine[0]);
  }

  isStrong([word]: CellRecord): Expr {
    return k.eq(word!, this.#strong);
  }

  hasStrong([word]: CellRecord): Expr {
    return isOfStrong(word!);
  }

  several(): CellRecord {
    return this.all;
  }

  strong(record: CellRecord): CellRecord {
    return [k.or(this.#strong, k.select(this.isMine(record), k.i32(flags.weak), k.i32(0)))];
  }
}

/**
 * The same with the interval in a second word. What several threads have done has a flag: they are of one block, that
 * of the number, or of several, if it is the launch's first number.
 */
export class OrderedGlobalRecords implements RecordRules {
  readonly planes = { written: ["writer", "writtenIn"], read: ["reader", "readIn"] } as const;
  readonly isUnwritten = null;
  /** It depends on whether the earlier record is of another block. */
  readonly all = null;
  readonly mine: readonly [Expr, Expr];
  readonly #first: Expr;
  readonly #blockFirst: Expr;
  readonly #threads: number;

  /** `interval`: the present one; `blockFirst`: the number of the block's first thread. */
  constructor(own: Expr, interval: Expr, first: Expr, blockFirst: Expr, threads: number) {
    this.mine = [own, interval];
    this.#first = first;
    this.#blockFirst = blockFirst;
    this.#threads = threads;
  }

  conflicts([who, when]: CellRecord): Expr {
    const isOther = k.op("pred.and", isPresent(this.#first, who!), k.ne(who!, this.mine[0]));
    const isUnordered = k.op("pred.or", k.eq(when!, this.mine[1]), k.op("pred.not", this.#isInBlock(who!)));
    return k.op("pred.and", isOther, isUnordered);
  }

  isMine([who, when]: CellRecord): Expr {
    return k.op("pred.and", k.eq(who!, this.mine[0]), k.eq(when!, this.mine[1]));
  }

  hasStrong([who]: CellRecord): Expr {
    return isOfStrong(who!);
  }

  /** Weak accesses that a block has made before are ordered for its own threads alone. */
  isStrong([who]: CellRecord): Expr {
    return k.op("pred.and", isOfStrong(who!), k.op("pred.or", k.le(k.i32(0), who!, true), this.#isInBlock(who!)));
  }

  several([who]: CellRecord, conflicts: Expr): CellRecord {
    return this.#flagged(k.i32(flags.weak), who!, conflicts);
  }

  strong([who, when]: CellRecord, conflicts: Expr): CellRecord {
    const hasWeak = k.op("pred.or", k.not(isOfStrong(who!)), k.lt(who!, k.i32(0), true));
    const isAfterWeak = k.op("pred.and", isPresent(this.#first, who!), hasWeak);
    const flag = k.select(isAfterWeak, k.i32(flags.weak | flags.strong), k.i32(flags.strong));
    const [next] = this.#flagged(flag, who!, conflicts);
    const both = k.or(this.#first, k.i32(flags.weak | flags.strong));
    return [k.select(this.isMine([who!, when!]), both, next!), this.mine[1]];
  }

  #flagged(flag: Expr, who: Expr, conflicts: Expr): CellRecord {
    const isFar = k.op("pred.and", conflicts, k.op("pred.not", this.#isInBlock(who)));
    return [k.or(k.select(isFar, this.#first, this.#blockFirst), flag), this.mine[1]];
  }

  #isInBlock(who: Expr): Expr {
    return k.lt(k.sub(k.and(who, k.i32(2 ** numberBits - 1)), this.#blockFirst), k.i32(this.#threads), false);
  }
}
