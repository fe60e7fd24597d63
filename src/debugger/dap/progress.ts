/** Milliseconds after which an editor is told that something goes on, and between two such messages. */
const patience = 1000;

/** Tells an editor how far a long way through time has come. */
export class Progress {
  readonly #id: string;
  readonly #now: () => number;
  readonly #say: (event: string, body: object) => void;
  #last = performance.now();
  #begun = false;

  /** `now`: the time in the program. */
  constructor(id: string, now: () => number, say: (event: string, body: object) => void) {
    this.#id = id;
    this.#now = now;
    this.#say = say;
  }

  update(): void {
    const now = performance.now();
    if (now - this.#last < patience) return;
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
