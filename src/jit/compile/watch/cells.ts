import type { Access, MemoryAccess } from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import type { CopyWatch } from "./copies.ts";
import type { LaneAddresses } from "./distinct-lanes.ts";
import type { CellRecord, RecordRules } from "./records.ts";
import type { CellBytes, Plane } from "./shadow-plan.ts";
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
  readonly #checksWritten: boolean;
  readonly #isOrdered: (access: Access) => boolean;

  /**
   * `checksWritten`: whether cells must have been written before they are read; `isOrdered`: whether all atomic
   * operations of the kernel are as good as ordered with those that make this access.
   */
  constructor(code: WatchedCode, cells: Cells, checksWritten: boolean, isOrdered: (access: Access) => boolean) {
    this.#code = code;
    this.#cells = cells;
    this.#checksWritten = checksWritten;
    this.#isOrdered = isOrdered;
  }

  /** `isCopy`: whether an asynchronous copy makes the access. */
  write({ effect, access }: MemoryAccess, address: Expr, lanes: LaneAddresses, isCopy = false): void {
    const { bytes, copies } = this.#cells;
    const words = ((access.bits / 8) * access.count) / bytes;
    for (let at = 0; at < words; at += maxWords) {
      const count = Math.min(maxWords, words - at);
      const from = at === 0 ? address : k.add(address, k.int(address, at * bytes));
      copies?.check(from, count);
      if (isCopy) copies?.note(from, count);
      if (effect === "load") this.#load(from, count, lanes);
      else if (effect === "store" || !this.#isOrdered(access)) this.#store(from, count, lanes, effect === "atomic");
      else this.#atomic(from, count);
    }
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
    return this.#checksWritten && rules.isUnwritten !== null ? or([conflicts, rules.isUnwritten(written)]) : conflicts;
  }

  /** `reads`: whether what is overwritten is read, too. */
  #store(address: Expr, count: number, lanes: LaneAddresses, reads = false): void {
    const { rules } = this.#cells;
    const { written, read } = rules.planes;
    const writes = this.#records(written, address, count);
    const bad = writes.map((record) => (reads ? this.#isBadRead(record) : rules.conflicts(record)));
    const earlier = this.#records(read, address, count).map((record) => rules.conflicts(record));
    this.#code.find(or([...bad, ...earlier]));
    this.#note(written, address, new Array<CellRecord>(count).fill(rules.mine));
    if (lanes === "distinct") return;
    const now = this.#wordsIn(written[0]!, address, count);
    this.#code.find(or(now.map((word) => k.ne(word, rules.mine[0]!))));
  }

  /** What is noted of atomic operations that are as good as ordered is the record of several threads. */
  #atomic(address: Expr, count: number): void {
    const { rules } = this.#cells;
    const { written, read } = rules.planes;
    const earlier = this.#records(written, address, count);
    const conflicts = earlier.map((record) => this.#code.once(rules.conflicts(record)));
    const plain = earlier.map((record, i) => {
      const conflict = k.op("pred.and", conflicts[i]!, k.op("pred.not", rules.isMany(record)));
      return this.#checksWritten && rules.isUnwritten !== null ? or([conflict, rules.isUnwritten(record)]) : conflict;
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
