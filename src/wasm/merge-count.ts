/**
 * Counts the values that a function's code merges: at each place that is reached in several ways, those of the locals
 * that were assigned on one of the ways, once for each way. A host that optimizes brings them together one by one, so
 * that optimizing a function takes a time which grows with this number more than with the code's size. It is an upper
 * bound, found while the code is written.
 */
export class MergeCount {
  /** The constructs that are open: the assignments before each, and the ways that lead to its label. */
  readonly #open: { readonly from: number; ways: number }[] = [];
  #assignments = 0;
  #values = 0;
  #labels = 0;

  get values(): number {
    return this.#values;
  }

  /** The number of constructs with a label: blocks, loops and conditions. */
  get labels(): number {
    return this.#labels;
  }

  assigned(): void {
    this.#assignments++;
  }

  begin(): void {
    this.#labels++;
    this.#open.push({ from: this.#assignments, ways: 1 });
  }

  /** A branch goes to the label of a construct, the outermost being 0. */
  branch(depth: number): void {
    const construct = this.#open[depth];
    if (construct !== undefined) construct.ways++;
  }

  /** `locals`: the number of locals. */
  end(locals: number): void {
    const construct = this.#open.pop();
    if (construct === undefined) return;
    this.#values += construct.ways * Math.min(locals, this.#assignments - construct.from);
  }
}

/** The size of a function as far as it matters to a host that optimizes it. */
interface FunctionSize {
  /** The size of its code, in bytes. */
  readonly size: number;
  readonly merges: Pick<MergeCount, "values" | "labels">;
}

/** The largest function that is optimized, and the largest one that merges few values: straight code, for the most part. */
const [maxSize, maxStraightSize] = [0x8_0000, 0xc_0000];

/** Values that are few, for functions of such sizes. */
const fewValues = 300_000;

/**
 * Whether V8 can optimize a function in a reasonable time: about a second for most code of this size, and a few seconds
 * for code that is made of nothing but loops or branches to one place.
 */
export const isOptimizable = ({ size, merges }: FunctionSize): boolean =>
  size <= (merges.values <= fewValues ? maxStraightSize : maxSize) &&
  merges.values <= 1_500_000 &&
  merges.labels <= 10_000;
