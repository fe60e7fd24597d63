import { batchMs } from "./worker-source.ts";

/** Milliseconds after which the rest is shared if blocks have taken longer than expected. */
const trialMs = 0.5;

/** Milliseconds that the first blocks may take besides running: the host compiles functions when they are called. */
const coldMs = 20;

/** The time that blocks take in this thread. */
export class Pace {
  readonly #begun = performance.now();
  /** What the first blocks have taken, and how many these are, where that may have been the host's compiler. */
  #cold: { readonly ms: number; readonly blocks: number } | null = null;

  /** Milliseconds, given how many blocks have run; null as long as that may be as expected. */
  blockMs(run: number): number | null {
    const ms = performance.now() - this.#begun;
    if (this.#cold === null && run > 0) this.#cold = { ms: Math.min(ms, coldMs), blocks: ms < coldMs ? run : 0 };
    const { ms: coldest = 0, blocks = 0 } = this.#cold ?? {};
    return ms > trialMs ? (ms - coldest) / Math.max(1, run - blocks) : null;
  }
}

/** The number of blocks to take at once, so that they run for about `batchMs`. */
export class Batches {
  readonly #max: number;
  size = 1;

  constructor(most: number) {
    this.#max = most;
  }

  time(run: () => void): void {
    const begun = performance.now();
    run();
    const size = performance.now() - begun < batchMs ? 2 * this.size : Math.ceil(this.size / 2);
    this.size = Math.min(this.#max, size);
  }
}
