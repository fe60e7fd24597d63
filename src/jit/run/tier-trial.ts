/** How many times as long as WebAssembly machine code takes where it is given up: less may be chance. */
const clearlySlower = 1.2;

/** Of so many comparisons most decide: one launch that something has disturbed is in two of them. */
const comparisons = 5;

/**
 * Finds out whether machine code of a kernel is slower than its WebAssembly, as it may be where it often asks the host.
 * Launches run as the one and as the other by turns, and the time of a block in each is compared with that in the one
 * before it, since blocks of later launches may have more to do, or less.
 */
export class TierTrial {
  #wasNative = false;
  #blockMs: number;
  #slower = 0;
  #compared = 0;
  #isWarm = false;

  /** `blockMs`: of the last launch before machine code was there. */
  constructor(blockMs: number) {
    this.#blockMs = blockMs;
  }

  /** Notes the time of a block in a launch, which was `nextIsNative` unless others overlapped. */
  note(isNative: boolean, blockMs: number): void {
    if (isNative && !this.#isWarm) {
      // The pages of the code were not in memory yet.
      this.#isWarm = true;
      return;
    }
    if (isNative !== this.#wasNative) {
      const [native, wasm] = isNative ? [blockMs, this.#blockMs] : [this.#blockMs, blockMs];
      this.#compared++;
      if (native > clearlySlower * wasm) this.#slower++;
    }
    this.#wasNative = isNative;
    this.#blockMs = blockMs;
  }

  /** What the next launch is to be. */
  get nextIsNative(): boolean {
    return !this.#wasNative;
  }

  /** Whether machine code is slower; null as long as that is not known. */
  get isSlower(): boolean | null {
    const most = comparisons / 2;
    if (this.#slower > most) return true;
    return this.#compared - this.#slower > most ? false : null;
  }
}
