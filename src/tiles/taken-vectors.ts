import { type FunctionWriter, type Wasm, wasm } from "../wasm/index.ts";

/** Locals with vectors that a part of a function uses several times. */
export class TakenVectors {
  readonly #w: FunctionWriter;
  readonly #taken: number[] = [];

  constructor(w: FunctionWriter) {
    this.#w = w;
  }

  /** A vector of memory, so many bytes after an address. */
  load(from: Wasm, offset = 0): Wasm {
    const local = this.#local();
    this.#w.value(from);
    this.#w.memory("v128.load", 16, offset);
    this.#w.set(local);
    return wasm.local("v128", local);
  }

  /** A value that is computed once. */
  kept(value: Wasm): Wasm {
    const local = this.#local();
    this.#w.assign([{ local, value }]);
    return wasm.local("v128", local);
  }

  /** None of them is needed any more. */
  release(): void {
    for (const local of this.#taken.splice(0)) this.#w.release(local);
  }

  #local(): number {
    const local = this.#w.local("v128");
    this.#taken.push(local);
    return local;
  }
}
