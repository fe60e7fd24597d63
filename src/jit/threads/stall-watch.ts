/**
 * How often each block in flight must have stopped since anything began or ended before it is suspected of waiting
 * forever.
 */
const firstPatience = 64;

/** Milliseconds that have passed since then, at least. */
const patienceMs = 200;

/**
 * Suspects that all blocks in flight wait for what no one is left to do: each has stopped again and again, as it only
 * waits, and meanwhile none has begun or ended. Whether they do is told by comparing the state before and after another
 * round (`Work.fingerprint`).
 */
export class StallWatch {
  readonly #stops = new Map<number, number>();
  #patience = firstPatience;
  /** Blocks that have begun and ended, when anything last did. */
  #seen = -1;
  #since = 0;

  /** A block has stopped. `progress`: blocks that have begun and blocks that have ended, together. */
  stopped(block: number, progress: number): void {
    if (progress !== this.#seen) {
      this.#stops.clear();
      this.#seen = progress;
      this.#since = performance.now();
    }
    this.#stops.set(block, (this.#stops.get(block) ?? 0) + 1);
  }

  /** Whether as many blocks as are in flight have all stopped often. */
  suspects(inFlight: number): boolean {
    if (this.#stops.size < inFlight || performance.now() - this.#since < patienceMs) return false;
    for (const stops of this.#stops.values()) if (stops < this.#patience) return false;
    return true;
  }

  /** Blocks have changed something: the suspicion was wrong, and the next one comes later. */
  wasWrong(): void {
    this.#patience *= 4;
  }
}
