type Run = () => void | Promise<void>;

/** Operations whose turn has come, in order: a long queue must not become a deep recursion. */
const ready: Operation[] = [];
let running = false;

function drain(): void {
  if (running) return;
  running = true;
  try {
    for (let next = ready.shift(); next !== undefined; next = ready.shift()) next.begin();
  } finally {
    running = false;
  }
}

/**
 * Work that begins when all that it comes after has ended: a copy, a kernel, a call of the host, a mark of an event.
 * What ends at once ends within `submit`.
 */
export class Operation {
  readonly #run: Run;
  #before = 1;
  #isDone = false;
  #dependents: Operation[] = [];
  #waiting: (() => void)[] = [];

  /** `run` must not throw: what fails is noted where it belongs. */
  constructor(run: Run = () => {}) {
    this.#run = run;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Lets it begin no sooner than another one has ended. Only before `submit`. */
  after(other: Operation | null): this {
    if (other === null || other.#isDone) return this;
    this.#before++;
    other.#dependents.push(this);
    return this;
  }

  /** Lets it begin once all before it has ended, which may be now. */
  submit(): this {
    this.#release();
    drain();
    return this;
  }

  /** Called when it has ended, which may be now. */
  whenDone(done: () => void): void {
    if (this.#isDone) done();
    else this.#waiting.push(done);
  }

  /** Waits for its end; null if it has ended. */
  ended(): Promise<void> | null {
    return this.#isDone ? null : new Promise((resolve) => this.whenDone(resolve));
  }

  /** Runs it. For `drain` alone. */
  begin(): void {
    const result = this.#run();
    if (result === undefined) this.#end();
    else {
      result.then(() => {
        this.#end();
        drain();
      });
    }
  }

  #release(): void {
    this.#before--;
    if (this.#before === 0) ready.push(this);
  }

  #end(): void {
    this.#isDone = true;
    const dependents = this.#dependents;
    this.#dependents = [];
    for (const next of dependents) next.#release();
    for (const done of this.#waiting.splice(0)) done();
  }
}
