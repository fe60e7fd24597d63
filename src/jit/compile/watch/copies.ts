import type { IrFunction, OpOf } from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import type { WatchedCode } from "./watched-code.ts";

/** Whether a function has asynchronous copies (`cp.async`). */
export const hasCopies = ({ instructions }: IrFunction): boolean => instructions.some(({ op }) => op.kind === "copy");

/** How a copy's destination is noted. */
export interface CopiedCells {
  /** Where the word of a cell lies. */
  readonly addressOf: (address: Expr) => Expr;
  /** Whether this thread has written a cell last. */
  readonly isMine: (address: Expr, count: number) => readonly Expr[];
  /** The first of two words in which threads compare how many of their groups are complete. */
  readonly words: Expr;
}

/**
 * Watches the destinations of asynchronous copies. Each thread counts its groups of copies, and how many of them are
 * known to be complete; a cell has the number of its last copy's group, from 1. What the thread that issued it has
 * waited for is complete for the others from the next barrier on, at which all of them must have waited for as many.
 */
export class CopyWatch {
  readonly #code: WatchedCode;
  readonly #cells: CopiedCells;
  /** Groups so far; those that are complete for the thread itself, and for all threads. */
  readonly #groups: Expr;
  readonly #own: Expr;
  readonly #common: Expr;

  constructor(code: WatchedCode, cells: CopiedCells) {
    this.#code = code;
    this.#cells = cells;
    this.#groups = code.begun(k.i32(0));
    this.#own = code.begun(k.i32(0));
    this.#common = code.begun(k.i32(0));
  }

  /** Finds whether the copy of a cell may still be under way. */
  check(address: Expr, count: number): void {
    const copied = this.#code.load("shared", this.#cells.addressOf(address), count);
    const isMine = this.#cells.isMine(address, count);
    const tests = copied.map((group, i) => k.lt(k.select(isMine[i]!, this.#own, this.#common), group, false));
    this.#code.find(tests.reduce((a, b) => k.op("pred.or", a, b)));
  }

  /** Cells are the destination of a copy, which belongs to the next group. */
  note(address: Expr, count: number): void {
    const group = this.#code.once(k.add(this.#groups, k.i32(1)));
    this.#code.store("shared", this.#cells.addressOf(address), new Array<Expr>(count).fill(group));
  }

  /** What is copied becomes a group. */
  commit(): void {
    this.#code.set(this.#groups, k.add(this.#groups, k.i32(1)));
  }

  wait({ pending, all }: OpOf<"await-copies">): void {
    // Copies that are in no group become one.
    if (all) this.commit();
    const complete = k.sub(this.#groups, k.i32(pending));
    this.#code.set(this.#own, k.select(k.lt(this.#own, complete, true), complete, this.#own));
  }

  /** `pass`: writes the barrier; `interval`: the number of barriers before it. */
  barrier(interval: Expr, pass: () => void): void {
    const turn = k.shl(k.and(interval, k.i32(1)), k.i32(2));
    const at = this.#code.once(k.add(k.widen(turn, false), this.#cells.words));
    this.#code.store("shared", at, [this.#own]);
    pass();
    const [found] = this.#code.load("shared", at, 1);
    this.#code.find(k.ne(found!, this.#own));
    this.#code.set(this.#common, this.#own);
  }
}

/** What is read of a copy's source: all of it in lanes where this holds, or always, if it is null. */
export function readsAll({ size, from: { access } }: OpOf<"copy">): Expr | null {
  return size === null ? null : k.le(k.i32((access.bits / 8) * access.count), size, false);
}
