import type { Layout } from "../analysis/flow/block-layout.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";

/** Where lanes may wait when those that run have gone elsewhere: the order says that the lowest of these blocks comes next. */
export class ResumeOrder {
  readonly #analysis: UniformityAnalysis;
  readonly #layoutNow: () => Layout;
  /** By block, where lanes may wait when none waits at an earlier one, which has been looked at before. */
  readonly #lookedAt = new Map<number, ReadonlySet<number>>();
  /** See `#comingTo`. */
  #coming: number[][] | null = null;

  /** `layout`: in which blocks are written now. */
  constructor(analysis: UniformityAnalysis, layout: () => Layout) {
    this.#analysis = analysis;
    this.#layoutNow = layout;
  }

  get #layout(): Layout {
    return this.#layoutNow();
  }

  /** The blocks are written from the beginning. */
  begin(): void {
    this.#lookedAt.clear();
  }

  /** The lowest block at which lanes may wait when none is left in this one: others, or those that it has sent there. */
  behind(from: number): number | undefined {
    const others = this.#analysis.divergence.waiting(from);
    const { successors } = this.#layout.blocks[from]!;
    const [a, b] = [this.#lowestBehind(from, others), this.#lowestBehind(from, new Set(successors))];
    return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
  }

  /** The same where it has sent none. */
  behindOthers(from: number): number | undefined {
    return this.#lowestBehind(from, this.#analysis.divergence.waiting(from));
  }

  /** The same where it turns out, when a block is looked at, that no lane waits there: whoever is not there may be at any of these. */
  insteadOf(block: number): number | undefined {
    const others = new Set([...this.#expectedAt(block), ...(this.#lookedAt.get(block) ?? [])]);
    const next = this.#lowestBehind(block, others);
    if (next !== undefined) this.#lookedAt.set(next, new Set([...(this.#lookedAt.get(next) ?? []), ...others]));
    return next;
  }

  /** The lowest of some blocks behind one at which lanes may wait. */
  #lowestBehind(from: number, blocks: ReadonlySet<number>): number | undefined {
    const { waiting } = this.#layout;
    if (blocks.size > waiting.length / 16) return waiting.find((w) => w > from && blocks.has(w));
    let lowest: number | undefined;
    for (const w of blocks) if (w > from && !(w >= lowest!) && this.#layout.mayWaitAt.has(w)) lowest = w;
    return lowest;
  }

  /** Where lanes may wait when a block is looked at in which it turns out that none does: all that was possible before. */
  #expectedAt(block: number): ReadonlySet<number> {
    const { divergence } = this.#analysis;
    const expected = new Set(divergence.waiting(block));
    for (const index of this.#comingTo(block)) {
      if (index >= block) break;
      const others = divergence.waiting(index);
      // Those of other phases are not on the way.
      const from = this.#layout.blocks[index];
      if (from === undefined) continue;
      const { successors } = from;
      if (!others.has(block) && !successors.includes(block)) continue;
      for (const w of others) expected.add(w);
      for (const w of successors) expected.add(w);
    }
    return expected;
  }

  /** The blocks, in order, that lanes may leave for one, or in which some may wait there: in any layout. */
  #comingTo(block: number): readonly number[] {
    if (this.#coming === null) {
      const { divergence, code } = this.#analysis;
      const { blocks } = code.graph;
      this.#coming = blocks.map((): number[] => []);
      for (const { index, successors } of blocks) {
        for (const s of new Set([...divergence.waiting(index), ...successors])) this.#coming[s]?.push(index);
      }
    }
    return this.#coming[block]!;
  }
}
