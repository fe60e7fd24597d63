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
  #loops = 0;

  get values(): number {
    return this.#values;
  }

  /** The number of constructs with a label: blocks, loops and conditions. */
  get labels(): number {
    return this.#labels;
  }

  get loops(): number {
    return this.#loops;
  }

  assigned(): void {
    this.#assignments++;
  }

  begin(what: "block" | "loop" | "if"): void {
    this.#labels++;
    if (what === "loop") this.#loops++;
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

/** What there is to do for a host that optimizes a function. */
interface FunctionSize {
  /** The size of its code, in bytes. */
  readonly size: number;
  readonly merges: Pick<MergeCount, "values" | "labels" | "loops">;
}

/**
 * The largest function that is optimized, and the largest one that merges few values: straight code, for the most part.
 */
const [maxSize, maxStraightSize] = [0x8_0000, 0xc_0000];

/** Values that are few, for functions of such sizes. */
const fewValues = 300_000;

/** The most labels of a function that is optimized, and the longest time that it may take, in milliseconds. */
const [maxLabels, maxTime] = [10_000, 5000];

/**
 * About how many milliseconds V8 needs to optimize a function: a fit to functions of all kinds in
 * `bench/compile-kinds`, most of which take between half and twice as long on a common machine. Null: a function that
 * must not be optimized, as it would take longer than anybody waits, or more memory than V8 may use.
 */
export function optimizingTime({ size, merges: { values, labels, loops } }: FunctionSize): number | null {
  if (size > (values <= fewValues ? maxStraightSize : maxSize) || labels > maxLabels) return null;
  const time = size / 5000 + values / 300 + loops;
  return time > maxTime ? null : time;
}
