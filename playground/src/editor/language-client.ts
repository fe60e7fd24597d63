import type { Workspace } from "lanewise/ide";

/** The functions of the language service that take and return plain data. */
type Method = {
  readonly [K in keyof Workspace]: Workspace[K] extends (...args: never[]) => unknown ? K : never;
}[keyof Workspace];

export interface LanguageRequest {
  readonly id: number;
  readonly method: Method;
  readonly args: readonly unknown[];
}

export type LanguageAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

/** The language service in a worker: it reads and checks programs while the page stays free. */
export class LanguageClient {
  #worker: Worker | null = null;
  #ids = 0;
  readonly #pending = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();

  /** Calls a function of the `Workspace`. */
  call<K extends Method>(method: K, ...args: Parameters<Workspace[K]>): Promise<ReturnType<Workspace[K]>> {
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
      worker.postMessage({ id, method, args } satisfies LanguageRequest);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./language-worker.ts", import.meta.url), { type: "module", name: "language" });
    worker.onmessage = ({ data }: MessageEvent<LanguageAnswer>) => {
      const pending = this.#pending.get(data.id);
      this.#pending.delete(data.id);
      if ("error" in data) pending?.reject(new Error(data.error));
      else pending?.resolve(data.result);
    };
    worker.onerror = () => {
      for (const { reject } of this.#pending.values()) reject(new Error("the language service could not be loaded"));
      this.#pending.clear();
    };
    return worker;
  }
}
