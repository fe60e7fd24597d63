/** How a search ended: at what the probe looks for, at a sanitizer's report, at the limit, or at either end of time. */
export type Found = "probe" | "finding" | "limit" | "end" | "beginning";

/** A search through time. It yields from time to time, so that the caller can do something else or give up. */
export type Search<T> = Generator<void, T>;

/** Instructions between two looks at the clock, and milliseconds between two yields. */
const instructionsPerLook = 1000;
const sliceMs = 40;

/** Decides when a search should yield. */
export class Pause {
  #instructions = 0;
  #next = performance.now() + sliceMs;

  /** Counts executed instructions; returns whether the search should yield now. */
  isDue(instructions: number): boolean {
    this.#instructions += Math.abs(instructions);
    if (this.#instructions < instructionsPerLook) return false;
    this.#instructions = 0;
    const now = performance.now();
    if (now < this.#next) return false;
    this.#next = now + sliceMs;
    return true;
  }
}
