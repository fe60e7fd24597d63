import type { Access, MemoryAccess } from "../../../ir/index.ts";
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
  /** Whether all atomic operations of the kernel are as good as ordered with those that make an access. */
  readonly isOrdered: (access: Access) => boolean;
  /** Whether all atomic operations are, so that what else has been written has been stored. */
  readonly areOrdered: boolean;
}

/** Cells that are looked at together. */
interface Piece {
  readonly address: Expr;
  readonly count: number;
}

/** Words of one load or store, at most. */
const maxWords = 4;

const or = (tests: readonly Expr[]): Expr => tests.reduce((a, b) => k.op("pred.or", a, b));

/**
 * Writes the code that watches one access: it looks for earlier accesses of the same cells that nothing orders before
 * this one, and notes this one. `lanes`: how the addresses of lanes that execute it together lie.
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

  /**
   * `isCopy`: whether an asynchronous copy makes the access. Returns what is to be written after the access itself, if
   * anything.
   */
  write(made: MemoryAccess, address: Expr, lanes: LaneAddresses, isCopy = false): (() => void) | null {
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
      if (effect === "load") this.#load(address, count, lanes);
      else if (effect === "atomic" && this.#rules.isOrdered(access)) this.#atomic(address, count);
    }
    if (effect === "load" || (effect === "atomic" && this.#rules.isOrdered(access))) return null;
    const values = this.#rules.areOrdered ? StoredValues.of(made, this.#code) : null;
    return this.#stores(pieces, lanes, values, effect === "atomic");
  }

  #load(address: Expr, count: number, lanes: LaneAddresses): void {
    const { rules } = this.#cells;
    const { read } = rules.planes;
    const written = this.#records(rules.planes.written, address, count);
    this.#code.find(or(written.map((w) => this.#isBadRead(w))));
    if (lanes === "same" && rules.several !== null) {
      this.#note(read, address, new Array<CellRecord>(count).fill(rules.several));
      return;
    }
    const earlier = this.#records(read, address, count);
    const conflicts = earlier.map((record) => this.#code.once(rules.conflicts(record)));
    const next = earlier.map((record, i) => {
      const many = rules.many(record, conflicts[i]!);
      return rules.mine.map((own, word) => this.#code.once(k.select(conflicts[i]!, many[word]!, own)));
    });
    this.#note(read, address, next);
    if (lanes === "distinct") return;
    // Lanes that read the same cell together all found what was there before.
    const now = this.#wordsIn(read[0]!, address, count);
    const isOther = this.#code.test(or(now.map((word, i) => k.ne(word, next[i]![0]!))));
    const many = earlier.map((record, i) => rules.many(record, conflicts[i]!)[0]!);
    this.#code.store(this.#cells.space, this.#cells.addressIn(read[0]!, address), many, isOther);
  }

  #isBadRead(written: CellRecord): Expr {
    const { rules } = this.#cells;
    const conflicts = rules.conflicts(written);
    return this.#rules.checksWritten && rules.isUnwritten !== null
      ? or([conflicts, rules.isUnwritten(written)])
      : conflicts;
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
    // What an atomic operation has written is no store.
    else if (values !== null)
      this.#code.find(or(writes.map((record, i) => k.op("pred.and", conflicts[i]!, rules.isMany(record)))));
    const once = (record: CellRecord): CellRecord => record.map((word) => this.#code.once(word));
    const ofOne = writes.map((record, i) =>
      values === null ? rules.mine : once(rules.storesOfOne(record, conflicts[i]!)),
    );
    const records = conflicts.map((conflict, i) =>
      values === null ? rules.mine : once(rules.mine.map((own, word) => k.select(conflict, ofOne[i]![word]!, own))),
    );
    this.#note(written, address, records);
    return { conflicts, records, ofOne };
  }

  /** What is noted of atomic operations that are as good as ordered is the record of several threads. */
  #atomic(address: Expr, count: number): void {
    const { rules } = this.#cells;
    const { written, read } = rules.planes;
    const earlier = this.#records(written, address, count);
    const conflicts = earlier.map((record) => this.#code.once(rules.conflicts(record)));
    const plain = earlier.map((record, i) => {
      const conflict = k.op("pred.and", conflicts[i]!, k.op("pred.not", rules.isMany(record)));
      return this.#rules.checksWritten && rules.isUnwritten !== null
        ? or([conflict, rules.isUnwritten(record)])
        : conflict;
    });
    const reads = this.#records(read, address, count).map((record) => rules.conflicts(record));
    this.#code.find(or([...plain, ...reads]));
    const next = earlier.map((record, i) => rules.many(record, conflicts[i]!));
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
