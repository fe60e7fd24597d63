interface Turn {
  readonly alone: boolean;
  readonly begin: () => void;
}

/** The launches of a device that run while the host does something else. */
export class PendingLaunches {
  #begun = 0;
  #open = 0;
  readonly #waiting: (() => void)[] = [];
  /** Those that wait for their turn, how many have theirs, and whether the one that has it is alone. */
  readonly #queue: Turn[] = [];
  #running = 0;
  #isAlone = false;

  /** How many have begun so far. */
  get begun(): number {
    return this.#begun;
  }

  /** Whether any is open. */
  get areOpen(): boolean {
    return this.#open > 0;
  }

  begin(): void {
    this.#begun++;
    this.#open++;
  }

  end(): void {
    this.#open--;
    if (this.#open > 0) return;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Waits until none is open. */
  async ended(): Promise<void> {
    while (this.#open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Runs something when it is its turn: beside others, or (`alone`) beside none. Those come first that have come first. */
  async inTurn<T>(alone: boolean, run: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.#queue.push({ alone, begin });
      this.#admit();
    });
    try {
      return await run();
    } finally {
      this.#running--;
      this.#isAlone = false;
      this.#admit();
    }
  }

  #admit(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#running > 0 && (this.#isAlone || next.alone)) return;
      this.#queue.shift();
      this.#running++;
      this.#isAlone = next.alone;
      next.begin();
    }
  }

  /** Whether one that is open may know of what has been there since `begun` was so much. */
  reach(since: number): boolean {
    return this.#open > 0 && since < this.#begun;
  }
}
