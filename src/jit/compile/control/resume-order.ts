import type { Layout } from "../analysis/flow/block-layout.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";

/** Which block comes next when no lane is active: of those at which lanes may be pending, the lowest. */
export class ResumeOrder {
  readonly #analysis: UniformityAnalysis;
  readonly #currentLayout: () => Layout;
  /** By block, where lanes may be pending if none was at an earlier block, whose mask has been tested before. */
  readonly #afterTests = new Map<number, ReadonlySet<number>>();
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
  }

  /**
   * The lowest block at which lanes may be pending when none is left in `from`: others, or those that it has sent
   * there.
   */
  after(from: number): number | undefined {
    const others = this.#analysis.divergence.waiting(from);
    const { successors } = this.#layout.blocks[from]!;
    const [a, b] = [this.#lowestAfter(from, others), this.#lowestAfter(from, new Set(successors))];
    return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
  }

  /** The lowest block at which lanes may be pending when none is left in `from`, which has sent none anywhere. */
  afterOthers(from: number): number | undefined {
    return this.#lowestAfter(from, this.#analysis.divergence.waiting(from));
  }

  /** The next block to test if no lane turns out to be pending at `block`. */
  insteadOf(block: number): number | undefined {
    const others = new Set([...this.#expectedAt(block), ...(this.#afterTests.get(block) ?? [])]);
    const next = this.#lowestAfter(block, others);
    if (next !== undefined) this.#afterTests.set(next, new Set([...(this.#afterTests.get(next) ?? []), ...others]));
    return next;
  }

  /** The lowest block after `from`, of a set, at which lanes may be pending. */
  #lowestAfter(from: number, blocks: ReadonlySet<number>): number | undefined {
    const { waiting } = this.#layout;
    if (blocks.size > waiting.length / 16) return waiting.find((w) => w > from && blocks.has(w));
    let lowest: number | undefined;
    for (const w of blocks) if (w > from && !(w >= lowest!) && this.#layout.mayWaitAt.has(w)) lowest = w;
    return lowest;
  }

  /** Where lanes may be pending when the mask of a block is tested: wherever they could be before each way there. */
  #expectedAt(block: number): ReadonlySet<number> {
    const { divergence } = this.#analysis;
    const expected = new Set(divergence.waiting(block));
    for (const index of this.#sourcesOf(block)) {
      if (index >= block) break;
      const others = divergence.waiting(index);
      // Blocks of other barrier regions are not written.
      const from = this.#layout.blocks[index];
      if (from === undefined) continue;
      const { successors } = from;
      if (!others.has(block) && !successors.includes(block)) continue;
      for (const w of others) expected.add(w);
      for (const w of successors) expected.add(w);
    }
    return expected;
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
