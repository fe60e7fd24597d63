import { createHash } from "node:crypto";
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

/** The key under which the library of a module is kept. `compiler`: the identity of what makes it. */
export const libraryKey = (module: Uint8Array, compiler: string): string =>
  `machine code ${createHash("sha256").update(module).digest("hex")} ${compiler}`;

/** Machine code in shared libraries: keeps them for other processes, loads them into this one, and calls them. */
export class Libraries {
  readonly #addon: string;
  readonly #store: KernelStore | null;
  /** By key: code, or why there is none. */
  readonly #known = new Map<string, NativeCode | string>();
  #calls: CodeAddon | null = null;

  /** `addon`: the file of the add-on. */
  constructor(addon: string, store: KernelStore | null) {
    this.#addon = addon;
    this.#store = store;
  }

  /**
   * The code of which the library was made here or by an earlier process; a text if there is none: why. Null if nobody
   * has tried. `imports`: see `NativeCode`.
   */
  known(key: string, imports: readonly string[]): NativeCode | string | null {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const kept = this.#store?.read(key) ?? null;
    if (kept === null) return null;
    const code = this.#load(kept, imports);
    if (typeof code === "string") {
      // It is damaged, or of another system: it is made anew.
      this.#store!.remove(key);
      return null;
    }
    this.#known.set(key, code);
    return code;
  }

  /** Keeps and loads a library that has been made. A text: why none can be. */
  add(key: string, library: Uint8Array | string, imports: readonly string[]): NativeCode | string {
    if (typeof library !== "string") this.#store?.write(key, library);
    const code = typeof library === "string" ? library : this.#load(library, imports);
    this.#known.set(key, code);
    return code;
  }

  #load(library: Uint8Array, imports: readonly string[]): NativeCode | string {
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
