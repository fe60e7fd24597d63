/**
 * A queue of launches that run one after the other, in the order of `Kernel.launchAsync`. Launches of different streams
 * may run at the same time. Made by `Device.stream`.
 */
export class Stream {
  #last: Promise<void> = Promise.resolve();

  /** Runs a function once everything enqueued before it has ended. Use `Kernel.launchAsync`. */
  enqueue<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run);
    this.#last = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  /** Waits until everything launched in the stream so far has ended, whether it succeeded or not. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
