import type { Dim3 } from "../../../../machine/reports/report.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";
import { type BlockForm, distancesIn, valueAt } from "./block-forms.ts";

const smallest = -(2 ** 31);
const largest = 2 ** 31 - 1;

/**
 * Conditions that are the same for all threads of a block, collected as bounds of what the threads share and of
 * differences between two such values.
 */
export class BlockTests {
  readonly #block: Dim3;
  /** By 32-bit value, the least and the most that it may be. */
  readonly #bounds = new Map<Expr, { min: number; max: number }>();
  /** By two values, the most that the first one may be beyond the second. */
  readonly #excess = new Map<Expr, Map<Expr, number>>();
  readonly #others: Expr[] = [];

  constructor(block: Dim3) {
    this.#block = block;
  }

  /** That no value of the block overflows: then `base`, taken as a signed number, and distances add up to it. */
  exact(form: BlockForm): void {
    this.#within(form, smallest, largest);
  }

  /** That no value of the block is less than a number, nor overflows. */
  atLeast(form: BlockForm, least: number): void {
    this.#within(form, least, largest);
  }

  /** That each value of the first form is less than each of the second, by at least `gap`. Both are exact. */
  less(a: BlockForm, b: BlockForm, gap: 0 | 1): void {
    const [high, low] = [a.offset + distancesIn(a, this.#block).max, b.offset + distancesIn(b, this.#block).min];
    const most = low - high - gap;
    if (b.base.kind === "const") this.#bound(a.base, smallest, Number(b.base.value) + most);
    else if (a.base.kind === "const") this.#bound(b.base, Number(a.base.value) - most, largest);
    else {
      let beyond = this.#excess.get(a.base);
      if (beyond === undefined) this.#excess.set(a.base, (beyond = new Map<Expr, number>()));
      beyond.set(b.base, Math.min(beyond.get(b.base) ?? largest, most));
    }
  }

  /** That all values of a form have the same quotient by what all threads share, which is positive. */
  sameQuotient(form: BlockForm, by: BlockForm): void {
    const { min, max } = distancesIn(form, this.#block);
    const quotient = (distance: number): Expr => kit.div(valueAt(form, distance), valueAt(by), true);
    this.#others.push(kit.eq(quotient(min), quotient(max)));
  }

  #within(form: BlockForm, least: number, most: number): void {
    const { min, max } = distancesIn(form, this.#block);
    this.#bound(form.base, least - form.offset - min, most - form.offset - max);
  }

  #bound(base: Expr, min: number, max: number): void {
    const known = this.#bounds.get(base);
    if (known === undefined) this.#bounds.set(base, { min, max });
    else {
      known.min = Math.max(known.min, min);
      known.max = Math.min(known.max, max);
    }
  }

  /** Whether all of them hold. */
  get all(): Expr {
    const tests: Expr[] = [...this.#others];
    for (const [base, { min, max }] of this.#bounds) {
      if (min > largest || max < smallest) return kit.pred(false);
      if (min > smallest) tests.push(kit.le(kit.i32(min), base, true));
      if (max < largest) tests.push(kit.le(base, kit.i32(max), true));
    }
    for (const [a, others] of this.#excess) {
      for (const [b, most] of others) {
        const limit = kit.add(kit.widen(b, true), kit.i64(BigInt(most)));
        tests.push(kit.le(kit.widen(a, true), limit, true));
      }
    }
    return tests.reduce((a, b) => kit.and(a, b), kit.pred(true));
  }
}
