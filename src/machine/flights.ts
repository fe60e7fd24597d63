/** The launches of a device that run while the host does something else. */
export class Flights {
  #begun = 0;
  #open = 0;
  readonly #waiting: (() => void)[] = [];

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

  /** Whether one that is open may know of what has been there since `begun` was so much. */
  reach(since: number): boolean {
    return this.#open > 0 && since < this.#begun;
  }
}
