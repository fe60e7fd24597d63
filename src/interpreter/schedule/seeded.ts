import type { Steering } from "../../machine/launch.ts";
import type { Group } from "../../machine/state/launch-state.ts";

/** A warp is interrupted at one of 2^n accesses on average, n being at most this. */
const rarestInterruption = 6;

/** A random schedule. The seed also decides how often warps are interrupted. */
export class SeededSteering implements Steering {
  #state: number;
  readonly #mask: number;

  constructor(seed: number) {
    this.#state = seed | 0;
    this.#mask = 2 ** (1 + (this.#next() % rarestInterruption)) - 1;
  }

  choose(ways: number, current: Group | null): number {
    if (current === null) return this.#next() % ways;
    return (this.#next() & this.#mask) === 0 ? 1 + (this.#next() % (ways - 1)) : 0;
  }

  /** The generator mulberry32. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }
}
