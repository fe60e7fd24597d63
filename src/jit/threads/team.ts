import type { HostFunction } from "../abi/host-function.ts";
import type { NativeCode } from "../abi/native-code.ts";
import { controlBytes, headerWords, mailAt, mailState, noBlock, word } from "./control.ts";
import { Mailbox } from "./mailbox.ts";
import type { OrderedOutput } from "./ordered-output.ts";
import { Batches, Pace } from "./pace.ts";
import { type Launch, workerPool } from "./pool.ts";
import { StallWatch } from "./stall-watch.ts";
import { type Room, Turns, type Waiting } from "./turns.ts";

/** Blocks that threads of the host run together. */
export interface Work extends Room {
  /** The linear index of the first one, and the one after the last. */
  readonly first: number;
  readonly end: number;
  /** Threads that may run them, at most. */
  readonly threads: number;
  /** An estimate of what a block takes, in milliseconds. */
  readonly expectedMs: number;
  readonly module: WebAssembly.Module;
  /** A module whose functions that one imports, or null. */
  readonly tiles: WebAssembly.Module | null;
  readonly memory: WebAssembly.Memory;
  /** Machine code that runs instead of the module, or null. */
  readonly native: NativeCode | null;
  /** The function that reads the host's clock, where threads may read it by themselves; or null. */
  readonly clock: string | null;
  /**
   * Runs some of the blocks in this thread, in a context. Returns `to`, or the linear index of a block that waits for
   * others and resumes when it is the first to run in the same context again.
   */
  runBlocks(context: number, from: number, to: number): number;
  /** Whether blocks may wait for others. */
  readonly waits: boolean;
  /** Makes the block in a context, which has waited and will resume, stop sooner the next time. */
  yieldSooner(context: number): void;
  /**
   * A number that depends on all that blocks can see and change, if the launch can end where they wait forever: else
   * null. Nothing runs meanwhile.
   */
  readonly fingerprint: (() => number) | null;
  /** The error with which a launch ends in which all blocks wait forever. */
  stuck(): Error;
  /** The linear index of the block that runs, or has run last, in a context. */
  blockIn(context: number): number;
  /** The functions that the module imports, by name. */
  functions(): ReadonlyMap<string, HostFunction>;
  readonly output: OrderedOutput;
  onProgress(blocksDone: number): void;
}

/** Costs of sharing, in milliseconds: with idle workers, and with workers that must be started. */
const inviteMs = 0.3;
const startMs = 30;

/**
 * The threads of the host that run the blocks of a launch: the launching thread, and workers. They take blocks in
 * order. The launching thread alone does what is not WebAssembly, and handles failures.
 */
export class Team implements Launch {
  readonly #work: Work;
  readonly #turns: Turns;
  #workers: readonly Member[] = [];
  #words: Int32Array = new Int32Array(headerWords);
  #functions: readonly HostFunction[] = [];
  /** The context of this thread, where it runs blocks. */
  #ownContext: number | null = null;
  /** Blocks that this thread has run. */
  #own = 0;
  /** The context for which a function of the host is called. */
  #context = 0;
  #failure: { readonly block: number; readonly error: unknown } | null = null;
  #settle: { readonly resolve: () => void; readonly reject: (reason: unknown) => void } | null = null;
  #lost = 0;
  /** Blocks that had been taken when one failed; no more are taken from then on. */
  #taken: number | null = null;
  /** Whether there can be no workers. */
  #isAlone: boolean;
  /** Null where nobody wants to know. */
  readonly #stalls: StallWatch | null;
  /** Whether workers get no more blocks, since it is to be found out whether all wait forever. */
  #holds = false;

  constructor(work: Work) {
    this.#work = work;
    this.#isAlone = work.threads === 1;
    this.#turns = new Turns(work);
    this.#stalls = work.fingerprint === null ? null : new StallWatch();
    this.#words[word.next] = this.#words[word.done] = work.first;
    this.#words[word.end] = work.end;
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
   * Runs all blocks, in this thread alone as long as sharing would not pay. A failure ends the launch and is thrown; of
   * several failures that of the first block, as if blocks had run one by one.
   */
  run(): void {
    this.#runAll();
    this.#end();
  }

  /** Runs all blocks in workers, while this thread does something else; where there are none, in this thread. */
  async finish(): Promise<void> {
    if (!this.#share(this.#work.threads, true)) {
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
      this.#runAll();
      this.#settle.resolve();
    }
  }

  /** Runs blocks and serves the workers, if there are any, until all blocks have ended. */
  #runAll(): void {
    const { first, end, expectedMs, waits } = this.#work;
    const pace = new Pace();
    const batches = new Batches(waits ? 1 : Infinity);
    this.#ownContext ??= this.#turns.begin();
    for (let remaining = (end - first) * expectedMs; ; ) {
      if (this.#pays(remaining)) this.#share(this.#work.threads - 1, false);
      const seen = Atomics.load(this.#words, word.events);
      this.#serve();
      const hasBegun = this.#beginSome(batches);
      const hasResumed = this.#resumeOne();
      if (this.#stalls !== null) this.#lookForStall(this.#stalls);
      if (!hasBegun && !hasResumed) {
        if (this.#ended) return;
        Atomics.wait(this.#words, word.events, seen);
      }
      const blockMs = pace.blockMs(this.#own);
      if (blockMs !== null) remaining = blockMs * (end - this.#count(word.next));
    }
  }

  #pays(remaining: number): boolean {
    if (this.#isAlone || this.#workers.length > 0) return false;
    return remaining > (workerPool.size >= this.#work.threads - 1 ? inviteMs : startMs);
  }

  /**
   * Lets up to `count` workers take blocks; false if there are none. `tells`: they send messages, since this thread
   * will not wait.
   */
  #share(count: number, tells: boolean): boolean {
    const { memory, native, clock, threads, waits } = this.#work;
    // The host compiles modules when they are asked for.
    const { module, tiles } = native === null ? this.#work : { module: null, tiles: null };
    const functions = this.#work.functions();
    const contexts = Array.from({ length: count }, () => this.#turns.begin()).filter((c) => c !== null);
    const control = new SharedArrayBuffer(controlBytes(contexts.length));
    const words = new Int32Array(control);
    words.set(this.#words);
    this.#words = words;
    const members = contexts.map((context, i): Member => ({ context, mailbox: new Mailbox(control, i) }));
    const code = { module, tiles, memory, native, functions: [...functions.keys()], clock };
    const invited = workerPool.invite(this, members.length, code, (i) => ({
      tells,
      context: contexts[i]!,
      control,
      mailbox: mailAt(i),
      threads,
      waits,
    }));
    this.#functions = [...functions.values()];
    this.#workers = members.slice(0, invited);
    for (const { context } of members.slice(invited)) this.#turns.end(context!);
    this.#isAlone = invited === 0;
    return !this.#isAlone;
  }

  /** Runs some of the blocks that no thread has taken. False if there are none, or no context. */
  #beginSome(batches: Batches): boolean {
    const from = this.#count(word.next);
    const left = this.#count(word.end) - from;
    if (left <= 0) return false;
    this.#ownContext ??= this.#turns.begin();
    if (this.#ownContext === null) return false;
    const { threads } = this.#work;
    const most = threads === 1 ? left : Math.ceil(left / (2 * threads));
    const to = from + Math.min(batches.size, most);
    if (Atomics.compareExchange(this.#words, word.next, from | 0, to | 0) >>> 0 !== from) return true;
    const context = this.#ownContext;
    batches.time(() => {
      if (!this.#runHere(context, from, to)) this.#ownContext = null;
    });
    return true;
  }

  /** Resumes a block that waits, for a while. False if there is none. */
  #resumeOne(): boolean {
    const waiting = this.#nextWaiting();
    if (waiting === null) return false;
    const { context, block } = waiting;
    if (this.#runHere(context, block, block + 1)) this.#turns.end(context);
    return true;
  }

  /** Runs blocks in this thread. False if the last of them has stopped, and keeps the context. */
  #runHere(context: number, from: number, to: number): boolean {
    this.#context = context;
    let end = to;
    try {
      end = this.#work.runBlocks(context, from, to);
    } catch (error) {
      this.#fail(error);
    }
    this.#own += end - from;
    Atomics.add(this.#words, word.done, end - from);
    if (end < to) this.#stop(context, end);
    return end === to;
  }

  #stop(context: number, block: number): void {
    if (this.#failure === null) {
      this.#stalls?.stopped(block, this.#count(word.next) + this.#count(word.done));
      this.#turns.stop({ context, block });
      Atomics.store(this.#words, word.waiting, this.#turns.count);
    } else Atomics.add(this.#words, word.done, 1);
  }

  /** Ends the launch if all blocks in flight wait, and another round of them changes nothing at all. */
  #lookForStall(stalls: StallWatch): void {
    const inFlight = (): number => this.#count(word.next) - this.#count(word.done);
    this.#holds = this.#failure === null && inFlight() > 0 && stalls.suspects(inFlight());
    if (!this.#holds || this.#turns.count < inFlight()) return;
    const before = this.#work.fingerprint!();
    for (let round = this.#turns.count; round > 0; round--) this.#resumeOne();
    this.#holds = false;
    if (this.#failure !== null) return;
    if (this.#turns.count > 0 && this.#turns.count === inFlight() && this.#work.fingerprint!() === before) {
      this.#fail(this.#work.stuck());
    } else stalls.wasWrong();
  }

  #nextWaiting(): Waiting | null {
    const waiting = this.#turns.resume();
    if (waiting === null) return null;
    Atomics.store(this.#words, word.waiting, this.#turns.count);
    this.#work.yieldSooner(waiting.context);
    return waiting;
  }

  /** Does what workers ask for, and prints the output of blocks before the first that runs or waits. */
  #serve(): void {
    const next = this.#count(word.next);
    const running = Math.min(next, this.#turns.first, ...this.#workers.map(({ mailbox }) => mailbox.block));
    for (const member of this.#workers) {
      const { mailbox } = member;
      const { state } = mailbox;
      if (state === mailState.empty) continue;
      this.#context = member.context ?? 0;
      if (state === mailState.stopped) this.#replace(member);
      else if (state === mailState.free) this.#occupy(member);
      else if (state === mailState.call || state === mailState.failure) this.#answer(mailbox, state);
    }
    this.#report(running);
  }

  #answer(mailbox: Mailbox, state: number): void {
    try {
      if (state === mailState.failure) throw asError(mailbox.failure);
      if (this.#isPast) mailbox.stop();
      else mailbox.answer(this.#functions);
    } catch (error) {
      this.#fail(error);
      mailbox.stop();
    }
  }

  /** The block of a worker has stopped; the worker may begin another one if there is a context for it. */
  #replace(member: Member): void {
    this.#stop(member.context!, member.mailbox.block);
    member.context = this.#turns.begin();
    member.mailbox.give(member.context, null);
  }

  /** A worker has nothing to do: it may resume a block that waits. */
  #occupy(member: Member): void {
    if (this.#holds) return;
    const waiting = this.#nextWaiting();
    if (waiting !== null) {
      if (member.context !== null) this.#turns.end(member.context);
      member.context = waiting.context;
    }
    member.mailbox.give(member.context, waiting?.block ?? null);
  }

  /** Whether the block that asks for something would not have run, since one before it has failed. */
  get #isPast(): boolean {
    return this.#failure !== null && this.#failure.block < this.#work.blockIn(this.#context);
  }

  #fail(error: unknown): void {
    if (!this.#isPast) this.#failure = { block: this.#work.blockIn(this.#context), error };
    const taken = Atomics.exchange(this.#words, word.next, this.#work.end | 0) >>> 0;
    this.#taken ??= taken;
    Atomics.store(this.#words, word.waiting, 0);
    Atomics.add(this.#words, word.done, this.#turns.clear());
  }

  /** Reports that all blocks before `end` have ended. Those after a failure have not run, as far as a user can see. */
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
    this.#report(this.#work.end);
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Whether all blocks have ended and no worker takes part any more. A worker that is late finds nothing to do. */
  get #ended(): boolean {
    const { end } = this.#work;
    if (this.#count(word.next) < end || this.#count(word.done) !== (this.#taken ?? end)) return false;
    return !this.#workers.some(({ mailbox }) => mailbox.isPresent);
  }

  #count(at: number): number {
    return Atomics.load(this.#words, at) >>> 0;
  }
}

/** The error that a worker has thrown, from its text: `name: message`. */
function asError(text: string): Error {
  const colon = text.indexOf(": ");
  if (colon < 0) return new Error(text);
  const error = new Error(text.slice(colon + 2));
  error.name = text.slice(0, colon);
  return error;
}

interface Member {
  /** Where it runs blocks; null while there is no context for it. */
  context: number | null;
  readonly mailbox: Mailbox;
}
