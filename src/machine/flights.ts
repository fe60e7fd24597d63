/** The launches of a device that run while the host does something else. */
export class Flights {
  #begun = 0;
  #open = 0;

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
  }

  /** Whether one that is open may know of what has been there since `begun` was so much. */
  reach(since: number): boolean {
    return this.#open > 0 && since < this.#begun;
  }
}
