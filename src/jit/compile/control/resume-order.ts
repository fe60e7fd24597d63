import { BitSet } from "../../../ir/flow/bit-set.ts";
import type { Layout } from "../analysis/flow/block-layout.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";

/** Which block comes next when no lane is active: of those at which lanes may be pending, the lowest. */
export class ResumeOrder {
  readonly #analysis: UniformityAnalysis;
  readonly #currentLayout: () => Layout;
  /** By block, where lanes may be pending if none was at an earlier block, whose mask has been tested before. */
  readonly #afterTests = new Map<number, BitSet>();
  /** By block, its `#placesFrom`. */
  readonly #places = new Map<number, BitSet>();
  /** By block, its `#sourcesOf`. */
  #sources: number[][] | null = null;

  /** `layout`: the order in which blocks are written; it changes with each barrier region. */
  constructor(analysis: UniformityAnalysis, layout: () => Layout) {
    this.#analysis = analysis;
    this.#currentLayout = layout;
  }

  get #layout(): Layout {
    return this.#currentLayout();
  }

  /** The blocks are written from the beginning. */
  begin(): void {
    this.#afterTests.clear();
    this.#places.clear();
  }

  /**
   * The lowest block at which lanes may be pending when none is left in `from`: others, or those that it has sent
   * there.
   */
  after(from: number): number | undefined {
    if (this.#analysis.divergence.isUnknown) return this.#firstWaiting(from, () => true);
    return this.#lowestIn(this.#placesFrom(from), from);
  }

  /** The lowest block at which lanes may be pending when none is left in `from`, which has sent none anywhere. */
  afterOthers(from: number): number | undefined {
    const others = this.#analysis.divergence.waiting(from);
    const { waiting, mayWaitAt } = this.#layout;
    if (others.size > waiting.length / 16) return this.#firstWaiting(from, (w) => others.has(w));
    let lowest: number | undefined;
    for (const w of others) if (w > from && !(w >= lowest!) && mayWaitAt.has(w)) lowest = w;
    return lowest;
  }

  /** The next block to test if no lane turns out to be pending at `block`. */
  insteadOf(block: number): number | undefined {
    if (this.#analysis.divergence.isUnknown) return this.#firstWaiting(block, () => true);
    const others = this.#expectedAt(block);
    const inherited = this.#afterTests.get(block);
    if (inherited !== undefined) others.union(inherited);
    const next = this.#lowestIn(others, block);
    if (next === undefined) return undefined;
    const known = this.#afterTests.get(next);
    if (known === undefined) this.#afterTests.set(next, others);
    else known.union(others);
    return next;
  }

  /** The lowest block after `from`, of a set, at which lanes may be pending. */
  #lowestIn(blocks: BitSet, from: number): number | undefined {
    const { mayWaitAt } = this.#layout;
    let next = blocks.firstAfter(from);
    while (next !== undefined && !mayWaitAt.has(next)) next = blocks.firstAfter(next);
    return next;
  }

  /** The lowest block after `from` of those at which lanes may be pending at all that fulfils a condition. */
  #firstWaiting(from: number, holds: (block: number) => boolean): number | undefined {
    const { waiting } = this.#layout;
    let low = 0;
    for (let high = waiting.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (waiting[middle]! > from) high = middle;
      else low = middle + 1;
    }
    while (low < waiting.length && !holds(waiting[low]!)) low++;
    return waiting[low];
  }

  /** Where lanes may be pending when the mask of a block is tested: wherever they could be before each way there. */
  #expectedAt(block: number): BitSet {
    const expected = this.#newSet(this.#analysis.divergence.waiting(block));
    for (const index of this.#sourcesOf(block)) {
      if (index >= block) break;
      // Blocks of other barrier regions are not written.
      if (this.#layout.blocks[index] === undefined) continue;
      const places = this.#placesFrom(index);
      if (places.has(block)) expected.union(places);
    }
    return expected;
  }

  /** Where lanes may be pending after a block that is written: others, and those that it has sent there. */
  #placesFrom(block: number): BitSet {
    let places = this.#places.get(block);
    if (places === undefined) {
      places = this.#newSet(this.#analysis.divergence.waiting(block));
      for (const s of this.#layout.blocks[block]!.successors) places.add(s);
      this.#places.set(block, places);
    }
    return places;
  }

  #newSet(members: Iterable<number>): BitSet {
    // The number of blocks stands for the end.
    const set = new BitSet(this.#analysis.code.graph.blocks.length + 1);
    for (const member of members) set.add(member);
    return set;
  }

  /**
   * The blocks, in order, from which lanes may go to a block, or in which some may run while others are pending there.
   */
  #sourcesOf(block: number): readonly number[] {
    if (this.#sources === null) {
      const { divergence, code } = this.#analysis;
      const { blocks } = code.graph;
      this.#sources = blocks.map((): number[] => []);
      for (const { index, successors } of blocks) {
        for (const s of new Set([...divergence.waiting(index), ...successors])) this.#sources[s]?.push(index);
      }
    }
    return this.#sources[block]!;
  }
}
