import { controlBytes, headerWords, mailAt, mailState, noBlock, word } from "./control.ts";
import { type HostFunction, Mailbox } from "./mailbox.ts";
import type { OrderedOutput } from "./ordered-output.ts";
import { type Launch, workerPool } from "./pool.ts";
import { batchMs } from "./worker-source.ts";

/** Blocks that threads of the host run together. */
export interface Work {
  /** How many there are. */
  readonly blocks: number;
  /** Threads that may run them. */
  readonly threads: number;
  /** What a block will take, in milliseconds, as far as one can tell beforehand. */
  readonly expectedMs: number;
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Runs some of the blocks in this thread, in a context. */
  readonly run: (context: number, from: number, to: number) => void;
  /** Room in the memory for one more thread. Throws a RangeError when there is none. */
  readonly openContext: () => number;
  /** The number of the block that runs, or has run last, in a context. */
  readonly blockIn: (context: number) => number;
  /** What the module imports besides the memory, by name. */
  readonly functions: () => ReadonlyMap<string, HostFunction>;
  readonly output: OrderedOutput;
  readonly onProgress: (blocksDone: number) => void;
}

/** Milliseconds after which blocks that have taken longer than expected are shared after all. */
const trialMs = 0.5;
/** What sharing costs, in milliseconds: with workers that wait, and with such that must be started. */
const inviteMs = 0.3;
const startMs = 10;

/**
 * The threads of the host that run the blocks of a launch: the one that asks for it, and workers. They take blocks in order.
 * What is not WebAssembly, and what goes wrong, is the business of the one that asks.
 */
export class Team implements Launch {
  readonly #work: Work;
  readonly #workers: Member[] = [];
  #words: Int32Array = new Int32Array(headerWords);
  #functions: readonly HostFunction[] = [];
  /** That of this thread, where it runs blocks. */
  #ownContext: number | null = null;
  /** Blocks that this thread has run. */
  #own = 0;
  /** The context for which this thread does something. */
  #context = 0;
  #failure: { readonly block: number; readonly error: unknown } | null = null;
  #settle: { readonly resolve: () => void; readonly reject: (reason: unknown) => void } | null = null;
  #lost = 0;
  /** There are no workers, or there is no room for them. */
  #isAlone = false;

  constructor(work: Work) {
    this.#work = work;
  }

  /** The context of the thread for which a function of the host is called. */
  get context(): number {
    return this.#context;
  }

  /** Threads that have run blocks. */
  get threads(): number {
    return Number(this.#own > 0) + this.#workers.filter(({ mailbox }) => mailbox.done > 0).length;
  }

  /**
   * Runs all blocks, in this thread alone as long as more would not pay. A failure ends the launch and is thrown; of several, that
   * of the first block, before which all have ended: as if they had run one by one.
   */
  run(): void {
    const { blocks, expectedMs } = this.#work;
    const begun = performance.now();
    const batches = new Batches();
    let remaining = blocks * expectedMs;
    for (let from = 0; from < blocks && this.#failure === null; ) {
      if (this.#pays(remaining) && this.#share(from, this.#work.threads - 1, false)) {
        this.#together();
        break;
      }
      const to = Math.min(blocks, from + batches.size);
      batches.time(() => this.#runHere(from, to));
      from = to;
      this.#report(from);
      const elapsed = performance.now() - begun;
      if (elapsed > trialMs) remaining = (elapsed / from) * (blocks - from);
    }
    this.#end();
  }

  /** Runs all blocks in workers, while this thread does something else; where there are none, in this thread. */
  async finish(): Promise<void> {
    if (!this.#share(0, this.#work.threads, true)) {
      this.run();
      return;
    }
    try {
      await new Promise<void>((resolve, reject) => {
        this.#settle = { resolve, reject };
      });
    } finally {
      workerPool.dismiss(this);
    }
    this.#end();
  }

  look(): void {
    if (this.#settle === null) return;
    this.#serve();
    if (this.#ended) this.#settle.resolve();
  }

  lost(reason: unknown): void {
    this.#lost++;
    if (this.#settle === null) return;
    if (this.#workers.some(({ mailbox }) => mailbox.block !== noBlock)) this.#settle.reject(reason);
    else if (this.#lost === this.#workers.length) {
      this.#together();
      this.#settle.resolve();
    }
  }

  #pays(remaining: number): boolean {
    const others = this.#work.threads - 1;
    return others > 0 && !this.#isAlone && remaining > (workerPool.size >= others ? inviteMs : startMs);
  }

  /** Lets workers take blocks, from one on. `tells`: this thread will not wait for them. False when there are no workers. */
  #share(from: number, count: number, tells: boolean): boolean {
    const { module, memory, threads, blocks } = this.#work;
    const functions = this.#work.functions();
    this.#functions = [...functions.values()];
    const contexts = this.#openContexts(count);
    const control = new SharedArrayBuffer(controlBytes(contexts.length));
    this.#words = new Int32Array(control);
    this.#words[word.next] = from;
    this.#words[word.done] = from;
    this.#words[word.end] = blocks;
    const members = contexts.map((context, i): Member => ({ context, mailbox: new Mailbox(control, i) }));
    const invited = workerPool.invite(this, members.length, (i) => ({
      tells,
      module,
      memory,
      functions: [...functions.keys()],
      context: contexts[i]!,
      control,
      mailbox: mailAt(i),
      threads,
    }));
    this.#workers.push(...members.slice(0, invited));
    this.#isAlone = invited === 0;
    return !this.#isAlone;
  }

  /** As many as there is room for. */
  #openContexts(count: number): readonly number[] {
    const contexts: number[] = [];
    try {
      while (contexts.length < count) contexts.push(this.#work.openContext());
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    return contexts;
  }

  /** Runs blocks and serves the workers, until all blocks have ended. */
  #together(): void {
    const batches = new Batches();
    for (;;) {
      const seen = Atomics.load(this.#words, word.events);
      this.#serve();
      const from = this.#count(word.next);
      const left = this.#count(word.end) - from;
      if (left > 0) {
        const to = from + Math.min(batches.size, Math.ceil(left / (2 * this.#work.threads)));
        if (Atomics.compareExchange(this.#words, word.next, from | 0, to | 0) >>> 0 === from) {
          batches.time(() => this.#runHere(from, to));
          Atomics.add(this.#words, word.done, to - from);
        }
      } else if (this.#ended) return;
      else Atomics.wait(this.#words, word.events, seen);
    }
  }

  #runHere(from: number, to: number): void {
    this.#context = this.#ownContext ??= this.#work.openContext();
    this.#own += to - from;
    try {
      this.#work.run(this.#context, from, to);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Answers what workers ask, and gives out what the blocks have printed that come before all that run. */
  #serve(): void {
    const next = this.#count(word.next);
    const running = Math.min(next, ...this.#workers.map(({ mailbox }) => mailbox.block));
    for (const { context, mailbox } of this.#workers) {
      const { state } = mailbox;
      this.#context = context;
      if (state === mailState.failure) this.#fail(new Error(mailbox.failure));
      if (state === mailState.failure || (state === mailState.call && this.#isPast)) mailbox.stop();
      else if (state === mailState.call) this.#answer(mailbox);
    }
    this.#report(running);
  }

  #answer(mailbox: Mailbox): void {
    try {
      mailbox.answer(this.#functions);
    } catch (error) {
      this.#fail(error);
      mailbox.stop();
    }
  }

  /** Whether the block of which something is asked would not have run, since one before it has failed. */
  get #isPast(): boolean {
    return this.#failure !== null && this.#failure.block < this.#work.blockIn(this.#context);
  }

  #fail(error: unknown): void {
    if (!this.#isPast) this.#failure = { block: this.#work.blockIn(this.#context), error };
    Atomics.store(this.#words, word.end, 0);
  }

  /** All blocks before one have ended. Those behind a failure have not run, as far as anybody can see. */
  #report(end: number): void {
    try {
      this.#work.output.flush(Math.min(end, this.#failure === null ? end : this.#failure.block + 1));
      this.#work.onProgress(end);
    } catch (error) {
      this.#fail(error);
    }
  }

  #end(): void {
    workerPool.dismiss(this);
    this.#report(this.#work.blocks);
    if (this.#failure !== null) throw this.#failure.error;
  }

  get #ended(): boolean {
    const next = this.#count(word.next);
    return next >= this.#count(word.end) && this.#count(word.done) === next;
  }

  #count(at: number): number {
    return Atomics.load(this.#words, at) >>> 0;
  }
}

interface Member {
  readonly context: number;
  readonly mailbox: Mailbox;
}

/** How many blocks to take at once, so that they take about `batchMs`. */
class Batches {
  size = 1;

  time(run: () => void): void {
    const begun = performance.now();
    run();
    this.size = performance.now() - begun < batchMs ? 2 * this.size : Math.ceil(this.size / 2);
  }
}
