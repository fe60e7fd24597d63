import type { AnswerMessage, EngineRequests, RequestKind, RequestMessage } from "./protocol.ts";

/** The caller has ended what was going on. */
export class Stopped extends Error {}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((progress: unknown) => void) | undefined;
}

/**
 * A worker that answers requests. It is started when it is first needed, and `stop` ends it at once, whatever it does:
 * a kernel need not cooperate.
 */
export class EngineClient {
  #worker: Worker | null = null;
  #pending = new Map<number, Pending>();
  #ids = 0;

  /** Whether an answer is awaited. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  request<K extends RequestKind>(
    kind: K,
    args: EngineRequests[K]["args"],
    onProgress?: (progress: unknown) => void,
  ): Promise<EngineRequests[K]["result"]> {
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (result: unknown) => void, reject, onProgress });
      worker.postMessage({ id, kind, args } satisfies RequestMessage);
    });
  }

  /** Ends what is going on; requests that have no answer yet are rejected with `Stopped`. */
  stop(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#fail(new Stopped("stopped"));
  }

  #start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "lanewise" });
    worker.onmessage = ({ data }: MessageEvent<AnswerMessage>) => this.#take(data);
    worker.onerror = (event) => {
      this.#worker = null;
      this.#fail(new Error(event.message || "the engine could not be loaded"));
    };
    return worker;
  }

  #take(answer: AnswerMessage): void {
    const pending = this.#pending.get(answer.id);
    if (pending === undefined) return;
    if ("progress" in answer) {
      pending.onProgress?.(answer.progress);
      return;
    }
    this.#pending.delete(answer.id);
    if ("error" in answer) pending.reject(new Error(answer.error));
    else pending.resolve(answer.result);
  }

  #fail(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }
}
