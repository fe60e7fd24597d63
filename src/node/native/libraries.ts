import { createRequire } from "node:module";
import type { HostFunction } from "../../jit/abi/host-function.ts";
import { numberOfReason } from "../../jit/abi/give-up-reasons.ts";
import type { KernelStore } from "../../jit/abi/kernel-store.ts";
import type { NativeCode, RunBlocks } from "../../jit/abi/native-code.ts";

/** What native/addon/code.c does. */
interface CodeAddon {
  /** Loads a shared library; the address of its function `run`. */
  loadCode(library: Uint8Array): number;
  /** `memory`: of WebAssembly, which stays at its address. */
  bindCode(entry: number, memory: Uint8Array<ArrayBufferLike>, functions: readonly HostFunction[]): RunBlocks;
}

/** Machine code in shared libraries: keeps them for other processes, loads them into this one, and calls them. */
export class Libraries {
  readonly #addon: string;
  readonly #store: KernelStore | null;
  #calls: CodeAddon | null = null;

  /** `addon`: the file of the add-on. */
  constructor(addon: string, store: KernelStore | null) {
    this.#addon = addon;
    this.#store = store;
  }

  /** The bytes of a library that an earlier process has made; null if there are none. */
  kept(key: string): Uint8Array | null {
    return this.#store?.read(key) ?? null;
  }

  keep(key: string, library: Uint8Array): void {
    this.#store?.write(key, library);
  }

  /** Returns a text if a library cannot be loaded: why. `imports`: see `NativeCode`. */
  load(library: Uint8Array, imports: readonly string[]): NativeCode | string {
    try {
      return { addon: this.#addon, entry: this.#functions.loadCode(library), imports };
    } catch (error) {
      return `machine code cannot be loaded: ${(error as Error).message}`;
    }
  }

  instance(
    { entry, imports }: NativeCode,
    memory: { readonly buffer: ArrayBufferLike },
    functions: Readonly<Record<string, HostFunction>>,
  ): RunBlocks {
    return this.#functions.bindCode(entry, new Uint8Array(memory.buffer), tableOf(imports, functions));
  }

  get #functions(): CodeAddon {
    return (this.#calls ??= createRequire(import.meta.url)(this.#addon) as CodeAddon);
  }
}

const fullStack = numberOfReason("deepCalls");

/** The functions of the host as code numbers them: one for a full stack, one to be called now and then, and its own. */
const tableOf = (imports: readonly string[], functions: Readonly<Record<string, HostFunction>>): HostFunction[] => [
  () => functions["giveUp"]!(fullStack),
  () => {},
  ...imports.map((name) => functions[name]!),
];
