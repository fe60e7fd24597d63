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

  /** A branch goes to a label, so many constructs from the innermost one. */
  branchBy(distance: number): void {
    this.branch(this.#open.length - 1 - distance);
  }

  /** `locals`: the number of locals. */
  end(locals: number): void {
    const construct = this.#open.pop();
    if (construct === undefined) return;
    this.#values += construct.ways * Math.min(locals, this.#assignments - construct.from);
  }
}

/** What there is to do for a host that optimizes a function. */
export interface FunctionSize {
  /** The size of its code, in bytes. */
  readonly size: number;
  readonly merges: Pick<MergeCount, "values" | "labels" | "loops">;
}

/** The largest function that is optimized, in bytes, and the most labels that one has. */
const [maxSize, maxLabels] = [0x14_0000, 10_000];

/** From this size on functions are large: memory for optimizing them is what may be short. */
const largeSize = 0x8_0000;

/** The longest time that a function may take, in milliseconds, and a large one. */
const [maxTime, maxLargeTime] = [5000, 3000];

/**
 * About how many milliseconds V8 needs to optimize a function: a fit to functions of all kinds in
 * `bench/compile-kinds`, most of which take between half and twice as long on a common machine. Null: a function that
 * must not be optimized, as it would take longer than anybody waits, or more memory than V8 may use.
 */
export function optimizingTime({ size, merges: { values, labels, loops } }: FunctionSize): number | null {
  if (size > maxSize || labels > maxLabels) return null;
  const time = size / 5000 + values / 300 + loops;
  return time > (size > largeSize ? maxLargeTime : maxTime) ? null : time;
}
