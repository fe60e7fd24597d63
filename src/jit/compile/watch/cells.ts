import type { MemoryAccess } from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import type { CopyWatch } from "./copies.ts";
import type { LaneAddresses } from "./distinct-lanes.ts";
import type { CellRecord, RecordRules } from "./records.ts";
import type { CellBytes, Plane } from "./shadow-plan.ts";
import { StoredValues } from "./stored-values.ts";
import type { WatchedCode } from "./watched-code.ts";

/** Where the words of a plane lie for the cell at an address. */
type PlaneAddress = (plane: Plane, address: Expr) => Expr;

/** The memory of one state space, in cells of which accesses are noted. */
export interface Cells {
  readonly space: "global" | "shared";
  readonly bytes: CellBytes;
  readonly rules: RecordRules;
  readonly addressIn: PlaneAddress;
  /** Watches the asynchronous copies to the cells; null where there are none. */
  readonly copies: CopyWatch | null;
}

/** What counts as an error in the accesses of a memory. */
export interface AccessRules {
  /** Whether cells must have been written before they are read. */
  readonly checksWritten: boolean;
  /** Whether all strong accesses are as good as ordered with each other, so that all other writes are plain stores. */
  readonly areOrdered: boolean;
}

/** What is known of an access, besides what the instruction says. */
export interface WatchedAccess {
  /** How the addresses of lanes that execute it together lie. */
  readonly lanes: LaneAddresses;
  /** Whether it is as good as ordered with all others of which this is so. */
  readonly isStrong: boolean;
  /** Whether an asynchronous copy makes it. */
  readonly isCopy: boolean;
}

/** Cells that are looked at together. */
interface Piece {
  readonly address: Expr;
  readonly count: number;
}

/** Words of one load or store, at most. */
const maxWords = 4;

/** The words of one record or, where a test fails, of another one. */
const chosen = (test: Expr, ifTrue: CellRecord, ifFalse: CellRecord): CellRecord =>
  ifTrue.map((word, i) => k.select(test, word, ifFalse[i]!));

const or = (tests: readonly Expr[]): Expr => tests.reduce((a, b) => k.op("pred.or", a, b));

/**
 * Writes the code that watches one access: it looks for earlier accesses of the same cells that nothing orders before
 * this one, and notes this one.
 */
export class AccessWatch {
  readonly #code: WatchedCode;
  readonly #cells: Cells;
  readonly #rules: AccessRules;

  constructor(code: WatchedCode, cells: Cells, rules: AccessRules) {
    this.#code = code;
    this.#cells = cells;
    this.#rules = rules;
  }

  /** Returns what is to be written after the access itself, if anything. */
  write(made: MemoryAccess, address: Expr, { lanes, isStrong, isCopy }: WatchedAccess): (() => void) | null {
    const { bytes, copies } = this.#cells;
    const { effect, access } = made;
    const words = ((access.bits / 8) * access.count) / bytes;
    const pieces: Piece[] = [];
    for (let at = 0; at < words; at += maxWords) {
      const from = at === 0 ? address : k.add(address, k.int(address, at * bytes));
      pieces.push({ address: from, count: Math.min(maxWords, words - at) });
    }
    for (const { address, count } of pieces) {
      copies?.check(address, count);
      if (isCopy) copies?.note(address, count);
      if (isStrong && effect === "load") this.#strongLoad(address, count, lanes);
      else if (isStrong) this.#strongWrite(address, count, effect === "atomic");
      else if (effect === "load") this.#load(address, count, lanes);
    }
    if (effect === "load" || isStrong) return null;
    const values = this.#rules.areOrdered ? StoredValues.of(made, this.#code) : null;
    return this.#stores(pieces, lanes, values, effect === "atomic");
  }

  #load(address: Expr, count: number, lanes: LaneAddresses): void {
    const { rules } = this.#cells;
    const { read } = rules.planes;
    const written = this.#records(rules.planes.written, address, count);
    this.#code.find(or(written.map((w) => this.#isBadRead(w))));
    if (lanes === "same" && rules.all !== null) {
      this.#note(read, address, new Array<CellRecord>(count).fill(rules.all));
      return;
    }
    this.#noteRead(address, count, lanes, (record, conflicts) =>
      chosen(conflicts, rules.several(record, conflicts), rules.mine),
    );
  }

  /** It is noted as a weak read where there is one of anybody: that conflicts with all that either does. */
  #strongLoad(address: Expr, count: number, lanes: LaneAddresses): void {
    const { rules } = this.#cells;
    const written = this.#records(rules.planes.written, address, count);
    this.#code.find(or(written.map((w) => this.#isBadStrongRead(w))));
    this.#noteRead(address, count, lanes, (record, conflicts) => {
      const isWeak = k.op("pred.and", conflicts, k.not(rules.isStrong(record)));
      const next = chosen(rules.isMine(record), record, rules.strong(record, conflicts));
      return chosen(isWeak, rules.several(record, conflicts), next);
    });
  }

  /** `next`: the record of a read after an earlier one. */
  #noteRead(
    address: Expr,
    count: number,
    lanes: LaneAddresses,
    next: (record: CellRecord, conflicts: Expr) => CellRecord,
  ): void {
    const { rules } = this.#cells;
    const { read } = rules.planes;
    const earlier = this.#records(read, address, count);
    const conflicts = earlier.map((record) => this.#code.once(rules.conflicts(record)));
    const records = earlier.map((record, i) => next(record, conflicts[i]!).map((word) => this.#code.once(word)));
    this.#note(read, address, records);
    if (lanes === "distinct") return;
    // Lanes that read the same cell together all found what was there before.
    const now = this.#wordsIn(read[0]!, address, count);
    const isOther = this.#code.test(or(now.map((word, i) => k.ne(word, records[i]![0]!))));
    const several = earlier.map((record, i) => rules.several(record, conflicts[i]!)[0]!);
    this.#code.store(this.#cells.space, this.#cells.addressIn(read[0]!, address), several, isOther);
  }

  #isBadRead(written: CellRecord): Expr {
    return this.#isUnwrittenOr(this.#cells.rules.conflicts(written), written);
  }

  #isBadStrongRead(written: CellRecord): Expr {
    return this.#isUnwrittenOr(this.#conflictsWeakly(written), written);
  }

  #isUnwrittenOr(test: Expr, written: CellRecord): Expr {
    const { isUnwritten } = this.#cells.rules;
    return this.#rules.checksWritten && isUnwritten !== null ? or([test, isUnwritten(written)]) : test;
  }

  /** Whether a record conflicts with a strong access. */
  #conflictsWeakly(record: CellRecord): Expr {
    const { rules } = this.#cells;
    return k.op("pred.and", rules.conflicts(record), k.not(rules.isStrong(record)));
  }

  /**
   * Several threads may store the same value to one place: then it does not matter which of them is the last. `values`:
   * what a store leaves; null where any other write conflicts. `reads`: whether what is overwritten is read, too.
   */
  #stores(
    pieces: readonly Piece[],
    lanes: LaneAddresses,
    values: StoredValues | null,
    reads: boolean,
  ): (() => void) | null {
    const noted = pieces.map((piece) => this.#store(piece, values, reads));
    const conflicts = or(noted.flatMap((piece) => piece.conflicts));
    if (values === null) this.#code.find(conflicts);
    else this.#code.within(this.#code.test(conflicts), () => this.#code.find(values.differ()));
    if (lanes === "distinct") return null;
    const { written } = this.#cells.rules.planes;
    const lost = pieces.flatMap(({ address, count }, i) =>
      this.#wordsIn(written[0]!, address, count).map((word, at) => k.ne(word, noted[i]!.records[at]![0]!)),
    );
    if (values === null) {
      this.#code.find(or(lost));
      return null;
    }
    const isLost = this.#code.test(or(lost));
    return () =>
      this.#code.within(isLost, () => {
        this.#code.find(values.differ());
        pieces.forEach(({ address }, i) => {
          this.#note(written, address, noted[i]!.ofOne);
        });
      });
  }

  /** Notes a store. Returns whether other writes conflict with it, and the records of it and of others like it. */
  #store({ address, count }: Piece, values: StoredValues | null, reads: boolean) {
    const { rules } = this.#cells;
    const { written, read } = rules.planes;
    const writes = this.#records(written, address, count);
    const conflicts = writes.map((record) => this.#code.once(rules.conflicts(record)));
    const earlier = this.#records(read, address, count).map((record) => rules.conflicts(record));
    this.#code.find(or(earlier));
    if (reads) this.#code.find(or(writes.map((record) => this.#isBadRead(record))));
    // What a strong access has written is no plain store.
    else if (values !== null)
      this.#code.find(or(writes.map((record, i) => k.op("pred.and", conflicts[i]!, rules.hasStrong(record)))));
    const once = (record: CellRecord): CellRecord => record.map((word) => this.#code.once(word));
    const ofOne = writes.map((record, i) =>
      values === null ? rules.mine : once(rules.several(record, conflicts[i]!)),
    );
    const records = conflicts.map((conflict, i) =>
      values === null ? rules.mine : once(rules.mine.map((own, word) => k.select(conflict, ofOne[i]![word]!, own))),
    );
    this.#note(written, address, records);
    return { conflicts, records, ofOne };
  }

  /** `reads`: whether what is overwritten is read, too. */
  #strongWrite(address: Expr, count: number, reads: boolean): void {
    const { rules } = this.#cells;
    const { written, read } = rules.planes;
    const earlier = this.#records(written, address, count);
    const bad = earlier.map((record) => (reads ? this.#isBadStrongRead(record) : this.#conflictsWeakly(record)));
    this.#code.find(
      or([...bad, ...this.#records(read, address, count).map((record) => this.#conflictsWeakly(record))]),
    );
    const next = earlier.map((record) => rules.strong(record, rules.conflicts(record)));
    this.#note(written, address, next);
  }

  #records(planes: readonly Plane[], address: Expr, count: number): readonly CellRecord[] {
    const words = planes.map((plane) => this.#wordsIn(plane, address, count));
    return Array.from({ length: count }, (_, i) => words.map((list) => list[i]!));
  }

  #wordsIn(plane: Plane, address: Expr, count: number): readonly Expr[] {
    return this.#code.load(this.#cells.space, this.#cells.addressIn(plane, address), count);
  }

  #note(planes: readonly Plane[], address: Expr, records: readonly CellRecord[]): void {
    for (const [word, plane] of planes.entries()) {
      const words = records.map((record) => record[word]!);
      this.#code.store(this.#cells.space, this.#cells.addressIn(plane, address), words);
    }
  }
}
