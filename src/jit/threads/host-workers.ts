/** A thread of the host that runs a script and receives messages. */
export interface HostWorker {
  post(message: object | null): void;
  /** Sets whether the worker keeps the process alive. */
  hold(held: boolean): void;
}

interface WorkerEvents {
  readonly onMessage: (message: unknown) => void;
  /** The worker could not be started, or has ended. Null: the host allows none. */
  readonly onEnd: (reason: unknown) => void;
}

interface NodeWorker {
  postMessage(message: unknown): void;
  on(event: string, listener: (value: unknown) => void): void;
  ref(): void;
  unref(): void;
}

interface WebWorker {
  postMessage(message: unknown): void;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  /** An event without a message: the policy of the page forbids the worker. */
  onerror: ((event: { readonly message?: string }) => void) | null;
}

/** The globals of Node and of browsers that are used here; their own types cannot be used together. */
interface HostGlobals {
  readonly process?: { getBuiltinModule?(name: string): unknown };
  readonly navigator?: { readonly hardwareConcurrency?: number };
  readonly SharedArrayBuffer?: unknown;
  readonly Worker?: new (url: string) => WebWorker;
  readonly Blob?: new (parts: readonly string[], options: { readonly type: string }) => object;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
  readonly URL?: { createObjectURL?(blob: object): string };
}

const globals = globalThis as unknown as HostGlobals;
const nodeModule = <T>(name: string): T | undefined => globals.process?.getBuiltinModule?.(name) as T | undefined;

const nodeWorkers = () =>
  nodeModule<{ Worker: new (source: string, options: object) => NodeWorker }>("node:worker_threads");

/**
 * Whether there can be workers, and memory that they share: in browsers only if the page is isolated from others. Node
 * always has workers; to ask for their module would load it.
 */
export const canShare = (): boolean =>
  globals.SharedArrayBuffer !== undefined && (globals.process?.getBuiltinModule ?? globals.Worker) !== undefined;

let waits: boolean | null = null;

/** Whether this thread may wait for others: the main thread of a page may not. */
export function canWait(): boolean {
  waits ??= tryToWait();
  return waits;
}

function tryToWait(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
    return true;
  } catch {
    return false;
  }
}

/** Threads that run at the same time. */
export const hostCores = (): number =>
  nodeModule<{ availableParallelism(): number }>("node:os")?.availableParallelism() ??
  globals.navigator?.hardwareConcurrency ??
  1;

/** Does something after some time, for which no process stays alive. Returns what takes it back. */
export function later(ms: number, run: () => void): () => void {
  const timer = globals.setTimeout(run, ms);
  (timer as { unref?(): void }).unref?.();
  return () => globals.clearTimeout(timer);
}

/** Starts a worker. Throws what the host throws if it allows none. */
export function startWorker(source: string, events: WorkerEvents): HostWorker {
  const node = nodeWorkers();
  return node === undefined
    ? startInPage(source, events)
    : startInNode(new node.Worker(source, { eval: true }), events);
}

function startInNode(worker: NodeWorker, { onMessage, onEnd }: WorkerEvents): HostWorker {
  worker.on("message", onMessage);
  worker.on("error", onEnd);
  worker.on("exit", onEnd);
  worker.unref();
  return {
    post: (message) => worker.postMessage(message),
    hold: (held) => (held ? worker.ref() : worker.unref()),
  };
}

function startInPage(source: string, { onMessage, onEnd }: WorkerEvents): HostWorker {
  const { Worker, Blob, URL } = globals as Required<HostGlobals>;
  const worker = new Worker(URL.createObjectURL!(new Blob([source], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => onMessage(data);
  worker.onerror = ({ message }) => onEnd(message === undefined ? null : new Error(message));
  return { post: (message) => worker.postMessage(message), hold: () => {} };
}
