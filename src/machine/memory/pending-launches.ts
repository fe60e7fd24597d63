interface Turn {
  readonly alone: boolean;
  readonly begin: () => void;
}

/** The launches of a device that run while the host does something else: begun, not ended, each in its turn. */
export class PendingLaunches {
  #begun = 0;
  #open = 0;
  #inSlices = 0;
  readonly #waiting: (() => void)[] = [];
  /** Launches that wait for their turn, the number of those that run, and whether the one that runs must be alone. */
  readonly #queue: Turn[] = [];
  #running = 0;
  #isAlone = false;
  /** Called when a kernel has waited long for another one that has to end first, with the names of both. */
  onLongWait: ((waiting: string, running: string) => void) | null = null;

  /** How many have begun so far. */
  get begun(): number {
    return this.#begun;
  }

  /** Whether any has begun and not ended. */
  get areOpen(): boolean {
    return this.#open > 0;
  }

  /** Whether any runs in slices: between two of them it waits for nothing but a turn of the host's loop. */
  get areInSlices(): boolean {
    return this.#inSlices > 0;
  }

  /** Runs a launch in slices. */
  async inSlices<T>(run: () => Promise<T>): Promise<T> {
    this.#inSlices++;
    try {
      return await run();
    } finally {
      this.#inSlices--;
    }
  }

  /** Notes that a launch has begun. */
  begin(): void {
    this.#begun++;
    this.#open++;
  }

  /** Notes that a launch has ended. */
  end(): void {
    this.#open--;
    if (this.#open > 0) return;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Waits until all have ended. */
  async ended(): Promise<void> {
    while (this.#open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Runs a launch in its turn, first come first served: together with others, or alone. */
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

  /** Whether one that has not ended may use what has existed since `begun` had that value. */
  reach(since: number): boolean {
    return this.#open > 0 && since < this.#begun;
  }
}
