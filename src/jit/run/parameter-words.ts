/** So many launches are remembered: of two that take turns, each reads what the other has written. */
const remembered = 2;

/** Words of a context: the number of the first one beyond some other, and how many they are. */
export interface WordRange {
  readonly from: number;
  readonly count: number;
}

/** The words of a context that follow from a launch's parameters, and those parameters. */
interface Remembered {
  params: Uint8Array | null;
  readonly words: Int32Array;
  /** Whether the words are there: parameters that are never seen again need none. */
  isFilled: boolean;
}

/**
 * What the parameters of a kernel's last launches have become in a context, the parameters themselves and the
 * allocations to which they point: a launch with the same ones need not find them again. It holds while allocations
 * stay as they are.
 */
export class ParameterWords {
  readonly #params: WordRange;
  readonly #roots: WordRange;
  readonly #launches: readonly Remembered[];
  /** The one that is forgotten next. */
  #oldest = 0;

  /** The words of the parameters, and after them those of the allocations. */
  constructor(params: WordRange, roots: WordRange) {
    this.#params = params;
    this.#roots = roots;
    const count = params.count + roots.count;
    this.#launches = Array.from({ length: remembered }, () => ({
      ...{ params: null, words: new Int32Array(count), isFilled: false },
    }));
  }

  /**
   * Writes the words of a launch in the context whose first word is `at`, if it has the same parameters as one that is
   * remembered: the same object, which nobody changes.
   */
  write(params: Uint8Array, to: Int32Array, at: number): boolean {
    for (let l = 0; l < remembered; l++) {
      const known = this.#launches[l]!;
      if (known.params !== params) continue;
      if (!known.isFilled) return false;
      const { words } = known;
      const { from, count } = this.#params;
      for (let i = 0; i < count; i++) to[at + from + i] = words[i]!;
      const roots = at + this.#roots.from - count;
      for (let i = count; i < words.length; i++) to[roots + i] = words[i]!;
      return true;
    }
    return false;
  }

  /** Remembers a launch, and if it is remembered already its words, which are there. */
  note(params: Uint8Array, context: Int32Array, at: number): void {
    const known = this.#launches.find((launch) => launch.params === params);
    if (known === undefined) {
      const launch = this.#launches[this.#oldest]!;
      this.#oldest = (this.#oldest + 1) % remembered;
      launch.params = params;
      launch.isFilled = false;
      return;
    }
    const { words } = known;
    const { from, count } = this.#params;
    for (let i = 0; i < count; i++) words[i] = context[at + from + i]!;
    const roots = at + this.#roots.from - count;
    for (let i = count; i < words.length; i++) words[i] = context[roots + i]!;
    known.isFilled = true;
  }
}
