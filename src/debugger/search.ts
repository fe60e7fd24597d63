/** Why a search has ended: at what was looked for, at a sanitizer's report, at the limit, or at an end of time. */
export type Found = "probe" | "finding" | "limit" | "end" | "beginning";

/** A search, which pauses now and then so that whoever goes through it may do something else, or give up. */
export type Search<T> = Generator<void, T>;

/** Instructions between two looks at the clock, and milliseconds between two pauses. */
const instructionsPerLook = 1000;
const slice = 40;

/** Whether it is time for a pause. */
export class Pause {
  #instructions = 0;
  #next = performance.now() + slice;

  /** So many instructions have been executed. */
  isDue(instructions: number): boolean {
    this.#instructions += Math.abs(instructions);
    if (this.#instructions < instructionsPerLook) return false;
    this.#instructions = 0;
    const now = performance.now();
    if (now < this.#next) return false;
    this.#next = now + slice;
    return true;
  }
}
