import vm from "node:vm";

/** Work that Ctrl-C has ended. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";

  constructor() {
    super("interrupted");
  }
}

/** The watches that have not ended: the signal comes to the process, so they are known to all of it. */
const watches: InterruptWatch[] = [];

const place = Symbol.for("lanewise.interruptible");

/** Made beforehand: a signal in the time between the turn of the event loop and the script's first step is lost. */
let script: vm.Script | null = null;

/**
 * Does work that Ctrl-C ends, although it keeps the event loop waiting: V8 stops JavaScript, WebAssembly and waits
 * wherever they are, which costs running code nothing. What the work has left can only be read.
 *
 * @throws Interrupted if it was ended so
 */
export async function interruptible<T>(work: () => T): Promise<T> {
  script ??= new vm.Script('globalThis[Symbol.for("lanewise.interruptible")]()');
  const holder = globalThis as { [place]?: () => unknown };
  holder[place] = work;
  try {
    // A signal between two pieces of work is noticed when the event loop turns.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    if (watches.some((watch) => watch.isInterrupted)) throw new Interrupted();
    return script.runInThisContext({ breakOnSigint: true, displayErrors: false }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_INTERRUPTED") throw new Interrupted();
    throw error;
  } finally {
    delete holder[place];
  }
}

/** Notes Ctrl-C where the event loop runs. A second one ends the process at once. */
export class InterruptWatch {
  #count = 0;
  readonly #heard = (): void => {
    if (++this.#count > 1) process.exit(130);
  };

  constructor() {
    watches.push(this);
    process.on("SIGINT", this.#heard);
  }

  /** Whether there has been one. */
  get isInterrupted(): boolean {
    return this.#count > 0;
  }

  end(): void {
    process.off("SIGINT", this.#heard);
    watches.splice(watches.indexOf(this), 1);
  }
}
