import { handlers } from "./handlers.ts";
import { Bytes, Call, type Handler } from "./api/call.ts";
import { hostFault, relyOn } from "./api/host-access.ts";
import { launchOneWay } from "./api/launch.ts";
import { CudaError, driverErrorName, errorName, errors, ownError } from "./base/errors.ts";
import { type Item, message, wire } from "./base/wire.ts";
import type { CudaProcess } from "./state/process.ts";

/** An answer to a call: the value that it returns, and what the client does before. */
export interface Answer {
  readonly result: number;
  readonly items: readonly Item[];
  readonly showsOutput: boolean;
}

/** Takes the answer of one call. */
export type Reply = (answer: Answer) => void;

/** A message of a client. */
export interface Message {
  readonly index: number;
  readonly thread: number;
  readonly data: Uint8Array;
  /** Null if no answer is wanted. */
  readonly reply: Reply | null;
}

interface Entry {
  readonly name: string;
  readonly perThread: boolean;
  readonly handler: Handler | null;
}

/** The entry points by number: `names` as the client library has them. */
export function entryPoints(names: readonly string[]): readonly Entry[] {
  return names.map((full) => {
    const name = full.replace(/_pt[sd][sz]$/, "");
    return { name, perThread: name !== full, handler: handlers.get(name) ?? null };
  });
}

const noWords = new BigUint64Array(wire.callWords);

/** What a process that uses CUDA asks, and the answers. */
export class Session {
  readonly process: CudaProcess;
  readonly #entries: readonly Entry[];

  constructor(process: CudaProcess, entries: readonly Entry[]) {
    this.process = process;
    this.#entries = entries;
  }

  /** Does what a message asks for. */
  take({ index, thread, data, reply }: Message): void {
    if (index === message.launch) this.#launch(thread, data);
    else if (index === message.fault) this.#fault(thread, data, reply);
    else if (index === message.callback) this.#askCallback(thread, data, reply!);
    else this.#call(this.#entries[index]!, thread, data, reply);
  }

  #call({ name, perThread, handler }: Entry, thread: number, data: Uint8Array, reply: Reply | null): void {
    const call = new Call(this.process, this.process.thread(thread), name, perThread, wordsOf(data));
    const stack = framesOf(data);
    this.process.beginCall(name, stack);
    const answer = (result: number, detail: string | null = null): void => {
      if (this.process.options.checksCalls && result !== 0 && result !== errors.notReady) {
        const why = detail === null ? "" : `: ${detail}`;
        this.process.warn(`${name} returns ${resultName(name, result)}${why}${this.process.stackText(stack)}`);
      }
      const send = (): void => reply?.({ result, items: call.items, showsOutput: call.showsOutput });
      if (result === 0 || result === errors.notReady) send();
      else this.#log(`${name} returns ${resultName(name, result)}${detail === null ? "" : `: ${detail}`}`, send);
    };
    if (handler === null) {
      this.process.warn(`${name} is not supported: it returns ${resultName(name, errors.notSupported)}`);
      answer(errors.notSupported);
      return;
    }
    // Code may be registered at any time: by a library that is loaded.
    if (this.process.callbacks.forbids(thread) && !name.startsWith("__")) {
      answer(errors.notPermitted, "a function that a stream calls must not use CUDA");
      return;
    }
    try {
      const result = handler(call);
      if (typeof result === "number") answer(result);
      else
        result.then(
          (code) => answer(code),
          (error: unknown) => answer(this.#codeOf(error), detailOf(error)),
        );
    } catch (error) {
      answer(this.#codeOf(error), detailOf(error));
    }
  }

  /** Writes an error into the log, and goes on when functions that listen to it have returned. */
  #log(text: string, then: () => void): void {
    const { process } = this;
    const logged = process.log(`[CUDA][E] ${text}`);
    if (process.logListeners.size === 0) then();
    else void logged.then(then);
  }

  /** The number of an error that a handler has thrown; one that is no error of CUDA is an error of Lanewise. */
  #codeOf(error: unknown): number {
    if (!(error instanceof CudaError)) {
      this.process.warn(ownError(error));
      return errors.unknown;
    }
    if (error.reason !== null) this.process.warn(error.reason);
    return error.code;
  }

  #launch(thread: number, data: Uint8Array): void {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const perThread = view.getUint32(44, true) !== 0;
    const call = new Call(this.process, this.process.thread(thread), "cudaLaunchKernel", perThread, noWords);
    try {
      launchOneWay(call, view, data.slice(48));
    } catch (error) {
      const code = this.#codeOf(error);
      if (this.process.error === 0) this.process.break(code);
    }
  }

  #fault(thread: number, data: Uint8Array, reply: Reply | null): void {
    const call = new Call(this.process, this.process.thread(thread), "an access", false, wordsOf(data));
    this.process.beginCall("", framesOf(data));
    const isOpen = hostFault(call, {
      address: call.address(0),
      isWrite: call.address(1) !== 0n,
      isAtomic: call.address(2) !== 0n,
    });
    reply?.({ result: isOpen ? 1 : 0, items: call.items, showsOutput: false });
  }

  #askCallback(thread: number, data: Uint8Array, reply: Reply): void {
    const [target = 0n] = wordsOf(data);
    this.process.callbacks.ask(thread, (next) => {
      const text = new TextEncoder().encode(next.message ?? "").subarray(0, wire.messageBytes - 1);
      const out = new Bytes(text.length === 0 ? 40 : 41 + text.length)
        .u64(0, next.kind)
        .u64(8, next.function)
        .u64(16, next.data)
        .u64(24, next.stream)
        .u64(32, next.status);
      out.data.set(text, 40);
      const call = new Call(this.process, this.process.thread(thread), "a callback", false, noWords);
      call.poke(target, out.data);
      // A callback may rely on what is before it in its stream; more is let through, and nothing wrong is said.
      relyOn(call, (order) => order.allEnded());
      reply({ result: 0, items: call.items, showsOutput: false });
    });
  }
}

/** A result as it is told: the runtime's errors have names. */
const resultName = (name: string, result: number): string =>
  /^(__)?cuda/.test(name) ? errorName(result) : driverErrorName(result);

const detailOf = (error: unknown): string | null => (error instanceof CudaError ? error.detail : null);

/** The return addresses that come with a call. */
const framesOf = (data: Uint8Array): readonly bigint[] =>
  data.length <= 8 * wire.callWords
    ? []
    : [...new BigUint64Array(data.slice(8 * wire.callWords).buffer)].filter((address) => address !== 0n);

const wordsOf = (data: Uint8Array): BigUint64Array =>
  new BigUint64Array(data.slice(0, 8 * wire.callWords).buffer, 0, Math.min(wire.callWords, data.length >> 3));
