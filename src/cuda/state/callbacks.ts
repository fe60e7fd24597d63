/** A function of the program that the server wants called. */
export interface Callback {
  /** 0: function(data); 1: function(stream, status, data); 3: function(data, status, message, its length) */
  readonly kind: 0 | 1 | 3;
  readonly function: bigint;
  readonly data: bigint;
  readonly stream: bigint;
  readonly status: number;
  /** For kind 3. */
  readonly message?: string;
}

/** Functions of the program that wait to be called by its thread for that, one after the other. */
export class Callbacks {
  readonly #queue: { readonly call: Callback; readonly done: () => void }[] = [];
  #running: { readonly call: Callback; readonly done: () => void } | null = null;
  /** The thread of the program that calls them. */
  #thread: number | null = null;
  #ask: ((call: Callback) => void) | null = null;

  /** Whether the thread calls a function: it cannot call another one before that has returned. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /**
   * Whether a thread must not use CUDA now: it runs a function in the order of a stream, which might have to wait for
   * itself. Functions that listen to errors may.
   */
  forbids(thread: number): boolean {
    return this.#running !== null && this.#running.call.kind !== 3 && this.#thread === thread;
  }

  /** Resolves when the function has returned. */
  call(call: Callback): Promise<void> {
    return new Promise((done) => {
      this.#queue.push({ call, done });
      this.#next();
    });
  }

  /** The program's thread asks for the next function, which says that the one before has returned. */
  ask(thread: number, answer: (call: Callback) => void): void {
    this.#ask = answer;
    this.#thread = thread;
    const ended = this.#running;
    this.#running = null;
    ended?.done();
    this.#next();
  }

  #next(): void {
    const answer = this.#ask;
    if (answer === null) return;
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#ask = null;
    this.#running = next;
    answer(next.call);
  }
}
