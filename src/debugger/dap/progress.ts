/** Milliseconds before an editor is told about a long movement, and between two updates. */
const intervalMs = 1000;

/** Reports the progress of a long movement through time to an editor. */
export class Progress {
  readonly #id: string;
  readonly #now: () => number;
  readonly #say: (event: string, body: object) => void;
  #last = performance.now();
  #begun = false;

  /** `now` returns the time in the program. */
  constructor(id: string, now: () => number, say: (event: string, body: object) => void) {
    this.#id = id;
    this.#now = now;
    this.#say = say;
  }

  update(): void {
    const now = performance.now();
    if (now - this.#last < intervalMs) return;
    this.#last = now;
    const body = { progressId: this.#id, message: `time ${this.#now()}` };
    if (this.#begun) this.#say("progressUpdate", body);
    else this.#say("progressStart", { ...body, title: "Running", cancellable: true });
    this.#begun = true;
  }

  end(): void {
    if (this.#begun) this.#say("progressEnd", { progressId: this.#id });
  }
}
