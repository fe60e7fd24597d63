/**
 * Launches that run one after the other, in the order of `Kernel.launchAsync`. Those of different streams may run at the same
 * time.
 */
export class Stream {
  #last: Promise<void> = Promise.resolve();

  /** Use `Kernel.launchAsync`. */
  enqueue<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run);
    this.#last = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  /** Waits for all that has been launched so far. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
